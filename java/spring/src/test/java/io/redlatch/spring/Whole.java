package io.redlatch.spring;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;

/** An application with all that Boot finds on the class path. */
@SpringBootConfiguration
@EnableAutoConfiguration
class Whole {
}
