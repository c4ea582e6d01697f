/** A part of what a name has to give: an exclusive lock claims all of it, a reader or a permit a share. */
final class Claim {
    static final int MANY = 1_000_000;

    final String name;
    final int share;
    final int capacity;

    Claim(String name, int share, int capacity) {
        this.name = name;
        this.share = share;
        this.capacity = capacity;
    }

    static Claim exclusive(String name) {
        return new Claim(name, MANY, MANY);
    }
}
