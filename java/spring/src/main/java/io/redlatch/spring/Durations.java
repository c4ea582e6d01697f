package io.redlatch.spring;

import java.time.Duration;
import org.springframework.boot.convert.DurationStyle;

/** The durations of annotations. */
final class Durations {
    private Durations() {}

    /** @throws IllegalArgumentException for a text that is none, or one below zero */
    static Duration parse(String text) {
        Duration duration;
        try {
            duration = DurationStyle.detectAndParse(text.trim());
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw new IllegalArgumentException("it is no duration; write it as 5s, 500ms, 2m or PT5S", e);
        }
        if (duration.isNegative()) {
            throw new IllegalArgumentException("it is below zero; write 0s or more");
        }
        return duration;
    }

    /** As a reader would write it. */
    static String shown(Duration duration) {
        return duration.getNano() == 0 ? duration.toSeconds() + " s" : duration.toMillis() + " ms";
    }
}
