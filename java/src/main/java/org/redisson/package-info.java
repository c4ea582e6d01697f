/** The client: start with {@link org.redisson.Redisson#create()}. */
package org.redisson;
