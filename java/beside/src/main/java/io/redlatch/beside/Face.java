package io.redlatch.beside;

import java.lang.invoke.MethodHandles;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/** An object of one family of types behind interfaces of the other. */
final class Face implements InvocationHandler {
    final Object object;
    /** Does what the object cannot: another object of the same key. Null: there is none. */
    private final Object other;
    private final Exchange exchange;

    Face(Object object, Object other, Exchange exchange) {
        this.object = object;
        this.other = other;
        this.exchange = exchange;
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] inputs) throws Throwable {
        if (method.getDeclaringClass() == Object.class) {
            return method.getName().equals("equals") ? object.equals(Exchange.behind(inputs[0])) : call(method, object, inputs);
        }
        if (Calls.behind(object, method).isPresent()) {
            return exchange.across(Calls.call(object, method, inputs, exchange), method.getReturnType());
        }
        if (other != null) {
            return call(method, other, inputs);
        }
        if (method.isDefault()) {
            Class<?> type = method.getDeclaringClass();
            MethodHandles.Lookup inside = MethodHandles.privateLookupIn(type, MethodHandles.lookup());
            return inside.unreflectSpecial(method, type).bindTo(proxy).invokeWithArguments(inputs == null ? new Object[0] : inputs);
        }
        throw new UnsupportedOperationException(object + " has no " + method);
    }

    private static Object call(Method method, Object object, Object[] inputs) throws Throwable {
        try {
            return method.invoke(object, inputs);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
