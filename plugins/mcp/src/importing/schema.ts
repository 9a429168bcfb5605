/** Validates values by schemas of external servers. Runs in a worker thread: references alone can make a schema run forever. */
import { once } from '@cinnabar/sdk/worker';
import { Ajv, type AnySchema, type CodeOptions, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { RE2JS } from 're2js';

export type JsonSchema = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => string | undefined;

/**
 * Compiles patterns with RE2, which takes linear time. Patterns that RE2 does not support (look-around, back-references) use the JavaScript engine, under the
 * worker's time limit.
 */
const regExp: NonNullable<CodeOptions['regExp']> = Object.assign(
  (pattern: string, flags: string) => linear(pattern) ?? new RegExp(pattern, flags),
  { code: 'RegExp' },
);

function linear(pattern: string): { test(text: string): boolean; toString(): string } | undefined {
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
    // The library caches patterns by the result of `toString`.
    return { test: (text) => compiled.matcher(text).find(), toString: () => pattern };
  } catch {
    return undefined;
  }
}

const OPTIONS = { strict: false, logger: false, addUsedSchema: false, code: { regExp } } as const;

/** Created for the first schema that needs it: compiling the meta-schemas takes a while. */
const draft2020 = once(() => withFormats(new Ajv2020(OPTIONS)));
const draft7 = once(() => withFormats(new Ajv(OPTIONS)));

const MOST_COMPILED = 64;
/** Compiled schemas by their text, the least recently used first. */
const compiled = new Map<string, Check | undefined>();

/**
 * The problem with a value, or `undefined`. A schema without `$schema` is read as 2020-12, MCP's default, then as draft 7, which many servers use without
 * declaring it. A schema that is invalid in both accepts everything.
 */
export function problemWith({ schema, value }: { readonly schema: JsonSchema; readonly value: unknown }) {
  const key = JSON.stringify(schema);
  const check = compiled.has(key) ? compiled.get(key) : compile(schema);
  compiled.delete(key);
  compiled.set(key, check);
  for (const oldest of [...compiled.keys()].slice(0, -MOST_COMPILED)) compiled.delete(oldest);
  return check?.(value);
}

function compile(schema: JsonSchema): Check | undefined {
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
    // Otherwise the library would keep it forever, even after the server has replaced it.
    ajv.removeSchema(schema);
  }
}

function withFormats(ajv: Ajv): Ajv {
  formats.default(ajv);
  return ajv;
}

function describe(errors: readonly ErrorObject[] = []): string {
  const [{ instancePath, message, params } = { instancePath: '', message: undefined, params: {} }] = errors;
  const where = instancePath.slice(1).replaceAll('/', '.');
  const extra = 'additionalProperty' in params ? ` (${String(params.additionalProperty)})` : '';
  return `${where === '' ? '' : `${where} `}${message ?? 'is not right'}${extra}`;
}
