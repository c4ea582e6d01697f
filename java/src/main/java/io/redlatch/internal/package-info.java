/**
 * The layer under the {@code org.redisson} classes of redlatch, down to the native library. Not for applications: its types are public for those
 * classes alone, and may change with every release.
 */
package io.redlatch.internal;
