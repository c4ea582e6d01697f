package io.redlatch.spring;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/** An application with the client and the annotation, and nothing of Boot beside them. */
@SpringBootConfiguration
@ImportAutoConfiguration({RedlatchAutoConfiguration.class, DistributedLockAutoConfiguration.class})
class Small {
}
