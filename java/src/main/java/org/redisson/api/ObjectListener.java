package org.redisson.api;

import java.util.EventListener;

/** What {@link RObservable#addListener} takes: {@link ExpiredObjectListener} or {@link DeletedObjectListener}. */
public interface ObjectListener extends EventListener {}
