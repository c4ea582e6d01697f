import org.redisson.config.NameMapper;

/** Names of one shop among others on the same server. */
final class ShopNames implements NameMapper {
    private static final String PREFIX = "shop:";

    @Override
    public String map(String name) {
        return PREFIX + name;
    }

    @Override
    public String unmap(String name) {
        return name.substring(PREFIX.length());
    }
}
