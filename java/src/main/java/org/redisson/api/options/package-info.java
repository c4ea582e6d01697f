/** Settings of single objects: {@link org.redisson.api.options.CommonOptions}. */
package org.redisson.api.options;
