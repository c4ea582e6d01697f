/**
 * What redlatch has beside the API of Redisson: {@link io.redlatch.Holds} and {@link io.redlatch.Lease} for the holder's view of its lock,
 * the kinds of lock that Redisson does not have ({@link io.redlatch.TokenLock} say), {@link io.redlatch.Options}, and the errors that only
 * this library has.
 */
package io.redlatch;
