/** The locks of redlatch in a program that keeps Redisson: {@link io.redlatch.beside.Beside}. */
package io.redlatch.beside;
