/** What configurations name of connections; without meaning here. */
package org.redisson.connection;
