package io.redlatch.spring;

import java.util.List;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.ParserContext;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/** The template of a lock's name. */
final class LockName {
    private static final SpelExpressionParser PARSER = new SpelExpressionParser();

    private final List<Expression> parts;
    private final String[] names;
    private final BeanFactory beans;

    /**
     * @param names of the method's parameters; null: they are not known, or there are none
     * @throws IllegalArgumentException for an expression that cannot be read
     */
    LockName(String template, String[] names, BeanFactory beans) {
        Expression whole;
        try {
            whole = PARSER.parseExpression(template, ParserContext.TEMPLATE_EXPRESSION);
        } catch (ParseException e) {
            throw new IllegalArgumentException("its expression cannot be read: " + e.getMessage() + "; write it as order:#{id}", e);
        }
        this.parts = whole instanceof CompositeStringExpression several ? List.of(several.getExpressions()) : List.of(whole);
        this.names = names;
        this.beans = beans;
    }

    boolean hasExpressions() {
        return !parts.stream().allMatch(LiteralExpression.class::isInstance);
    }

    /** @throws IllegalArgumentException for a part that has no value */
    String of(Object[] arguments) {
        Parameters parameters = new Parameters(names, arguments);
        StandardEvaluationContext context = new StandardEvaluationContext(parameters);
        context.addPropertyAccessor(new ParameterAccessor());
        context.setBeanResolver(new BeanFactoryResolver(beans));
        context.setVariables(parameters.values());
        StringBuilder name = new StringBuilder();
        for (Expression part : parts) {
            name.append(part instanceof LiteralExpression ? part.getExpressionString() : text(part, context));
        }
        return name.toString();
    }

    private String text(Expression part, StandardEvaluationContext context) {
        String shown = "#{" + part.getExpressionString() + "}";
        Object value;
        try {
            value = part.getValue(context);
        } catch (EvaluationException e) {
            String known = names == null || names.length == 0 ? "the method has no parameters" : "the parameters are " + String.join(", ", names);
            throw new IllegalArgumentException(shown + " has no value: " + e.getMessage() + "; " + known, e);
        }
        if (value == null || value.toString().isEmpty()) {
            throw new IllegalArgumentException(shown + " is " + (value == null ? "null" : "empty")
                    + ", and all calls without a value would share one lock; give it a value, or a default as #{id ?: 'none'}");
        }
        if (declaresNoText(value.getClass())) {
            throw new IllegalArgumentException(shown + " is a " + value.getClass().getTypeName()
                    + ", whose text is another one in each process; name a property that tells it from others, as #{order.id}");
        }
        return value.toString();
    }

    private static boolean declaresNoText(Class<?> type) {
        try {
            return type.getMethod("toString").getDeclaringClass() == Object.class;
        } catch (NoSuchMethodException e) {
            throw new AssertionError(e);
        }
    }
}
