/** Where the server is and how long to wait for it: {@link org.redisson.config.Config}. */
package org.redisson.config;
