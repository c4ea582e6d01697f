package io.redlatch.internal;

import io.redlatch.LockLostException;
import io.redlatch.LostReason;
import java.util.Arrays;
import java.util.List;

/** The outcome of a {@link Request}. */
public final class Answer {
    // The numbers of the core; a test of the native crate compares them.
    public static final int DONE = 0;
    public static final int NOT_NOW = 1;
    /** Done, and there are texts. */
    static final int WITH_TEXTS = 2;
    public static final int NOT_HELD = 10;
    public static final int LOST = 11;
    public static final int UNAVAILABLE = 13;
    public static final int NOT_SYNCED = 14;
    public static final int REFUSED = 15;
    public static final int CONFIG = 16;
    public static final int UNSUPPORTED = 17;
    public static final int CLOSED = 18;
    public static final int CANCELLED = 19;
    public static final int TIMED_OUT = 20;
    public static final int ALREADY_HELD = 21;

    /** Numbers in a row: ticket, status, number, items. */
    static final int NUMBERS = 5;
    /** Texts in a row: message, word. They are written only where there is an error, or {@link #WITH_TEXTS} texts, packed, for the first. */
    static final int TEXTS = 2;

    private static final int FIRST_ERROR = NOT_HELD;

    private static final int ITEMS = 3;
    private static final String[] NO_TEXTS = {};

    final long[] numbers;
    final String[] words;
    /** Null: not read yet. */
    private List<byte[]> texts;

    /** An answer that the native library fills in. The answer to an acquire needs no memory when it comes: there may be none. */
    Answer() {
        this(new long[NUMBERS], new String[TEXTS]);
    }

    private Answer(long[] numbers, String[] words) {
        this.numbers = numbers;
        this.words = words;
    }

    /** The answer for a hold of a client that was shut down before it could be asked: it was lost with the client. */
    public static Answer lostWithClient(String lock) {
        String message = "`" + lock + "` is lost: its client was shut down; the work that it guarded may have been done twice";
        return new Answer(new long[] {0, LOST, LostReason.CLOSED.ordinal() + 1, 0, 0}, new String[] {message, null});
    }

    /** Reads one row of what the native library wrote. */
    static Answer read(long[] numbers, String[] texts, int row) {
        long[] own = Arrays.copyOfRange(numbers, row * NUMBERS, (row + 1) * NUMBERS);
        boolean hasWords = own[1] >= FIRST_ERROR || own[1] == WITH_TEXTS; // else those of an earlier answer are there
        return new Answer(own, hasWords ? Arrays.copyOfRange(texts, row * TEXTS, (row + 1) * TEXTS) : NO_TEXTS);
    }

    /** {@link #DONE}, {@link #NOT_NOW} or one of the errors. */
    public int status() {
        int status = (int) numbers[1];
        return status == WITH_TEXTS ? DONE : status;
    }

    /** True if the operation was carried out. */
    public boolean done() {
        return status() == DONE;
    }

    /** True if it was neither carried out nor merely not possible in time. */
    public boolean failed() {
        return status() >= FIRST_ERROR;
    }

    /** Which request this answers; of a look at a hold, the hold's number, or 0 if there is none. */
    public long ticket() {
        return numbers[0];
    }

    /** The number that the operation gives; of a {@link #LOST} hold, the number of the reason. */
    public long number() {
        return numbers[2];
    }

    /** The exception of a hold that is {@link #LOST}. */
    public LockLostException loss() {
        return new LockLostException(message(), reason());
    }

    /** Why a hold is {@link #LOST}. */
    public LostReason reason() {
        return LostReason.values()[(int) number() - 1];
    }

    /** A further number of the answer, from index 0 on; 0 where there is none. */
    public long item(int index) {
        return numbers[ITEMS + index];
    }

    /** The texts of the answer. */
    public List<byte[]> texts() {
        if (texts == null) {
            texts = numbers[1] == WITH_TEXTS ? Packed.read(words[0]) : List.of();
        }
        return texts;
    }

    /** The text of an error: the failure, and its remedy. Null without an error. */
    public String message() {
        return failed() ? words[0] : null;
    }

    /** The error's name: the server's own (as in {@code WRONGTYPE}) where it refused; null without an error. */
    public String word() {
        return failed() ? words[1] : null;
    }
}
