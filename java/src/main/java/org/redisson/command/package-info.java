/** Errors of replicas. */
package org.redisson.command;
