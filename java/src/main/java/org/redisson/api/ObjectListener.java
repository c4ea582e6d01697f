package org.redisson.api;

import java.util.EventListener;

/** A listener for {@link RObservable#addListener}: {@link ExpiredObjectListener} or {@link DeletedObjectListener}. */
public interface ObjectListener extends EventListener {}
