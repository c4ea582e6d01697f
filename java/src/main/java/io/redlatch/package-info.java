/**
 * The layer under the {@code org.redisson} classes of redlatch, and redlatch's additions to them.
 *
 * <p>For applications: {@link io.redlatch.Holds}, {@link io.redlatch.Lease}, {@link io.redlatch.Options}, {@link io.redlatch.TokenLock},
 * {@link io.redlatch.LockLostException}, {@link io.redlatch.NativeLibraryError} and {@link io.redlatch.ClassPathConflictException}. The other public
 * types connect the {@code org.redisson} classes with the native library; they may change with every release.
 */
package io.redlatch;
