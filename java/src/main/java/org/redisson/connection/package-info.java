/** Types of connections that configurations name; without meaning here. */
package org.redisson.connection;
