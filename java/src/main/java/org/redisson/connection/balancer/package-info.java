/** Names of the ways to choose a replica. */
package org.redisson.connection.balancer;
