package io.redlatch.spring;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** An annotation of an application, which means one of ours. */
@Retention(RetentionPolicy.RUNTIME)
@DistributedLock(name = "order:#{id}")
@interface Every {
}
