/** What can go wrong between a lock and its server. */
package org.redisson.client;
