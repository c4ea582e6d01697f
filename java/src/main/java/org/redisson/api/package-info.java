/** What a client gives: {@link org.redisson.api.RedissonClient} and its locks. */
package org.redisson.api;
