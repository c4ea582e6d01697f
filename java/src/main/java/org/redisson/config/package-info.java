/** Configurations: {@link org.redisson.config.Config}. */
package org.redisson.config;
