import io.redlatch.TokenLock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.redisson.api.LockOptions;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Every kind of lock that a client makes and a thread holds, for the load and for the tests of every kind. */
enum LockKind {
    PLAIN(true, (client, name) -> client.getLock(name)),
    SPIN(true, (client, name) -> client.getSpinLock(name)),
    SLOW_SPIN(true, (client, name) -> client.getSpinLock(name, new LockOptions.ExponentialBackOff().initialDelay(5).maxDelay(300))),
    NON_REENTRANT(false, (client, name) -> client.getNonReentrantLock(name)),
    FAIR(true, (client, name) -> client.getFairLock(name)),
    NON_REENTRANT_FAIR(false, (client, name) -> client.getNonReentrantFairLock(name)),
    FENCED(true, (client, name) -> client.getFencedLock(name)),
    TOKEN(false, TokenLock::of),
    READ(true, (client, name) -> client.getReadWriteLock(name).readLock()),
    WRITE(true, (client, name) -> client.getReadWriteLock(name).writeLock()),
    MULTI(true, null),
    GROUP(false, null),
    RED(true, null);

    private static final int NAMES = 2;
    private static final String[] MEMBERS = {"a", "b", "c"};

    final boolean reenters;
    private final Maker maker;

    LockKind(boolean reenters, Maker maker) {
        this.reenters = reenters;
        this.maker = maker;
    }

    private interface Maker {
        RLock make(RedissonClient client, String name);
    }

    /** The kinds that are a lock of one name, for the tests of every kind. */
    static List<LockKind> ofOneName() {
        return Arrays.stream(values()).filter(kind -> kind.maker != null).collect(Collectors.toList());
    }

    /** The lock of this kind and name; only of a kind that is a lock of one name. */
    RLock of(RedissonClient client, String name) {
        return maker.make(client, name);
    }

    /** A lock, what it claims, and the clients that it needs. */
    static final class Made {
        final RLock lock;
        final String name;
        final List<Share> shares;
        final List<Party> parties;

        private Made(RLock lock, String name, List<Share> shares, List<Party> parties) {
            this.lock = lock;
            this.name = name;
            this.shares = shares;
            this.parties = parties;
        }
    }

    /** @throws org.redisson.RedissonShutdownException if a client of several was shut down meanwhile */
    Made make(List<Party> parties, String prefix, Random random) {
        Party party = parties.get(0);
        String server = party.server + "/";
        int number = random.nextInt(8) == 0 ? 1 : 0; // most go where others are
        switch (this) {
            case MULTI:
                return multi(party, prefix, random);
            case GROUP:
                String group = prefix + "group";
                List<Object> values = some(random);
                List<Share> shares = new ArrayList<>();
                values.forEach(each -> shares.add(Share.exclusive(server + group + "/" + each)));
                return new Made(party.client.getMultiLock(group, values), group, shares, parties);
            case RED:
                String red = prefix + "red" + number;
                return new Made(red(parties, red), red, List.of(Share.exclusive(red)), parties);
            case READ:
            case WRITE:
                String shared = prefix + "readwrite" + number;
                int size = this == READ ? 1 : Share.MANY;
                return new Made(maker.make(party.client, shared), shared, List.of(new Share(server + shared, size, Share.MANY)), parties);
            default:
                String name = prefix + name().toLowerCase() + number;
                return new Made(maker.make(party.client, name), name, List.of(Share.exclusive(server + name)), parties);
        }
    }

    /** Of names that the locks called {@code PLAIN} have as well. */
    private static Made multi(Party party, String prefix, Random random) {
        List<RLock> members = new ArrayList<>();
        List<Share> shares = new ArrayList<>();
        int left = random.nextInt(NAMES + 1);
        for (int number = 0; number < NAMES; number++) {
            if (number != left) {
                String name = prefix + "plain" + number;
                members.add(party.client.getLock(name));
                shares.add(Share.exclusive(party.server + "/" + name));
            }
        }
        String other = prefix + "member" + random.nextInt(NAMES);
        members.add(party.client.getLock(other));
        shares.add(Share.exclusive(party.server + "/" + other));
        return new Made(party.client.getMultiLock(members.toArray(new RLock[0])), other, shares, List.of(party));
    }

    @SuppressWarnings("deprecation")
    private static RLock red(List<Party> parties, String name) {
        return parties.get(0).client.getRedLock(parties.stream().map(each -> each.client.getLock(name)).toArray(RLock[]::new));
    }

    private static List<Object> some(Random random) {
        List<Object> some = new ArrayList<>();
        for (String each : MEMBERS) {
            if (random.nextBoolean()) {
                some.add(each);
            }
        }
        return some.isEmpty() ? List.of("b") : some;
    }
}
