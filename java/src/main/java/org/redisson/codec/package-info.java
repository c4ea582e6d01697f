/** The codec that a client has when none was set. */
package org.redisson.codec;
