import { type ToolInput, z } from '@cinnabar/sdk';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import { Ajv, type AnySchema, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

type JsonSchema = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => string | undefined;

const OPTIONS = { strict: false, logger: false, addUsedSchema: false } as const;

/** Made when the first schema needs it: each compiles the rules for schemas themselves, which takes a while. */
const draft2020 = once(() => withFormats(new Ajv2020(OPTIONS)));
const draft7 = once(() => withFormats(new Ajv(OPTIONS)));

/**
 * Compiles a JSON Schema into a check that says what is wrong. Without `$schema` it is 2020-12, as MCP says; many servers
 * still write draft 7 without saying so, which is tried next. `undefined`: it is neither.
 */
function compileSchema(schema: JsonSchema): Check | undefined {
  const { $schema: dialect, $id: _id, ...rest } = schema;
  const old = typeof dialect === 'string' && /draft-0[4-7]/.test(dialect);
  const validate = old ? compileWith(draft7(), rest) : (compileWith(draft2020(), rest) ?? compileWith(draft7(), rest));
  return validate && ((value) => (validate(value) ? undefined : describe(validate.errors ?? undefined)));
}

function compileWith(ajv: Ajv, schema: AnySchema): ValidateFunction | undefined {
  try {
    return ajv.compile(schema);
  } catch {
    return undefined;
  } finally {
    // It would be kept for ever, also when the server has long had another one.
    ajv.removeSchema(schema);
  }
}

function withFormats(ajv: Ajv): Ajv {
  formats.default(ajv);
  return ajv;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function describe(errors: readonly ErrorObject[] = []): string {
  const [{ instancePath, message, params } = { instancePath: '', message: undefined, params: {} }] = errors;
  const where = instancePath.slice(1).replaceAll('/', '.');
  const extra = 'additionalProperty' in params ? ` (${String(params.additionalProperty)})` : '';
  return `${where === '' ? '' : `${where} `}${message ?? 'is not right'}${extra}`;
}

/** A tool's input as the host wants it: any object, refused unless it fits the server's schema. Compiled with the first call. */
export function inputFor(schema: JsonSchema): ToolInput {
  const check = once(() => compileSchema(schema));
  return z.looseObject({}).superRefine((value, context) => {
    const problem = check()?.(value);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });
}

/** For the SDK's client: a schema that cannot be compiled checks nothing, where the SDK's own would fail the whole listing. */
export const lenientValidator: jsonSchemaValidator = {
  getValidator: <T>(schema: JsonSchema) => {
    const check = once(() => compileSchema(schema));
    return (input: unknown) => {
      const problem = check()?.(input);
      // The caller asked for this very type by the schema that has just been checked.
      if (problem === undefined) return { valid: true, data: input as T, errorMessage: undefined };
      return { valid: false, data: undefined, errorMessage: problem };
    };
  },
};
