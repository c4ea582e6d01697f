import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** The stays inside locks at this moment. Stays that believe in their holds never claim more than a name has to give. */
final class Ledger {
    private final Map<String, List<Stay>> inside = new HashMap<>();
    private final Map<String, Long> tokens = new HashMap<>();
    private final Verdict verdict;

    Ledger(Verdict verdict) {
        this.verdict = verdict;
    }

    /** The time between an acquire and a release. */
    final class Stay {
        private final List<Share> shares;
        private final BooleanSupplier lost;
        private final String holder;

        private Stay(List<Share> shares, BooleanSupplier lost, String holder) {
            this.shares = shares;
            this.lost = lost;
            this.holder = holder;
        }

        void leave() {
            synchronized (Ledger.this) {
                for (Share share : shares) {
                    List<Stay> stays = inside.get(share.name);
                    stays.remove(this);
                    if (stays.isEmpty()) {
                        inside.remove(share.name);
                    }
                }
            }
        }
    }

    /** @param lost whether the holder knows that the hold is lost */
    synchronized Stay enter(List<Share> shares, BooleanSupplier lost, String holder) {
        Stay stay = new Stay(shares, lost, holder);
        for (Share share : shares) {
            List<Stay> stays = inside.computeIfAbsent(share.name, name -> new ArrayList<>());
            check(stay, share, stays);
            stays.add(stay);
        }
        return stay;
    }

    /** Tokens of a fenced lock grow from hold to hold. */
    synchronized void token(String name, long token, BooleanSupplier lost) {
        Long last = tokens.get(name);
        if (last != null && token <= last && !lost.getAsBoolean()) {
            verdict.fail("exclusion: token " + token + " of " + name + " came after " + last);
        }
        tokens.merge(name, token, Math::max);
    }

    synchronized void forgetTokens(String prefix) {
        tokens.keySet().removeIf(name -> name.startsWith(prefix));
    }

    private void check(Stay stay, Share share, List<Stay> stays) {
        long claimed = share.size;
        StringBuilder others = new StringBuilder();
        for (Stay other : stays) {
            if (!other.lost.getAsBoolean()) { // the others first: a newcomer that believes after that has overlapped with them
                claimed += other.shares.stream().filter(each -> each.name.equals(share.name)).mapToInt(each -> each.size).sum();
                others.append(other.holder).append("; ");
            }
        }
        verdict.count("exclusion", "checked");
        if (claimed > share.capacity && !stay.lost.getAsBoolean()) {
            verdict.fail("exclusion: " + stay.holder + " is inside " + share.name + " beside " + others);
        }
    }
}
