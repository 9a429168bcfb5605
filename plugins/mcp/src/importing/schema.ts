import { type ToolInput, z } from '@cinnabar/sdk';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import { Ajv, type AnySchema, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

type JsonSchema = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => string | undefined;

const OPTIONS = { strict: false, logger: false, addUsedSchema: false } as const;

/**
 * Compiles a JSON Schema into a check that says what is wrong. Without `$schema` it is 2020-12, as MCP says; many servers
 * still write draft 7 without saying so, which is tried next. `undefined`: it is neither.
 */
export function compileSchema(schema: JsonSchema): Check | undefined {
  const { $schema: dialect, $id: _id, ...rest } = schema;
  const old = typeof dialect === 'string' && /draft-0[4-7]/.test(dialect);
  const validate = old ? compileWith(Ajv, rest) : (compileWith(Ajv2020, rest) ?? compileWith(Ajv, rest));
  return validate && ((value) => (validate(value) ? undefined : describe(validate.errors ?? undefined)));
}

function compileWith(Dialect: typeof Ajv | typeof Ajv2020, schema: AnySchema): ValidateFunction | undefined {
  try {
    const ajv = new Dialect(OPTIONS);
    formats.default(ajv);
    return ajv.compile(schema);
  } catch {
    return undefined;
  }
}

function describe(errors: readonly ErrorObject[] = []): string {
  const [{ instancePath, message, params } = { instancePath: '', message: undefined, params: {} }] = errors;
  const where = instancePath.slice(1).replaceAll('/', '.');
  const extra = 'additionalProperty' in params ? ` (${String(params.additionalProperty)})` : '';
  return `${where === '' ? '' : `${where} `}${message ?? 'is not right'}${extra}`;
}

/** A tool's input as the host wants it: any object, refused unless it fits the server's schema. */
export function inputFor(schema: JsonSchema): ToolInput {
  const check = compileSchema(schema);
  if (check === undefined) return z.looseObject({});
  return z.looseObject({}).superRefine((value, context) => {
    const problem = check(value);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });
}

/** For the SDK's client: a schema that cannot be compiled checks nothing, where the SDK's own would fail the whole listing. */
export const lenientValidator: jsonSchemaValidator = {
  getValidator: <T>(schema: JsonSchema) => {
    const check = compileSchema(schema);
    return (input: unknown) => {
      const problem = check?.(input);
      // The caller asked for this very type by the schema that has just been checked.
      if (problem === undefined) return { valid: true, data: input as T, errorMessage: undefined };
      return { valid: false, data: undefined, errorMessage: problem };
    };
  },
};
