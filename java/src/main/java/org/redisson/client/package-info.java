/** The errors between a lock and its server. */
package org.redisson.client;
