/** Codecs for the values of multi locks. */
package org.redisson.client.codec;
