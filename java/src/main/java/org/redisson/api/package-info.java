/** The API: {@link org.redisson.api.RedissonClient} and its locks. */
package org.redisson.api;
