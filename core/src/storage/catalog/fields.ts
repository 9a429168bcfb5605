import {
  formatDuration,
  optionTraits,
  type Plugin,
  SETTING_MENTIONS,
  SETTING_SCOPES,
  type SettingScope,
  type SettingType,
  z,
} from '@cinnabar/sdk';

/** One declared setting, with what its schema tells of it. */
export interface Field {
  readonly scope: SettingScope;
  readonly key: string;
  readonly type: SettingType;
  readonly words: string;
  readonly description: string;
  readonly secret: boolean;
  readonly default: unknown;
  /** The author's own ceiling; the owner may set another. */
  readonly ceiling?: number;
  /** The number that means that there is no limit. */
  readonly noLimit?: number;
  /** Whether it names a model: then admins choose among those that the owner allows. */
  readonly isModel: boolean;
  /** `undefined` when the value fits, else the first problem, in zod's words or the author's own. */
  check(value: unknown): { readonly message: string; readonly at: string; readonly custom: boolean } | undefined;
}

const known = new WeakMap<Plugin, readonly Field[]>();

/** A plugin's settings, the widest scope first. */
export function fieldsOf(plugin: Plugin): readonly Field[] {
  const before = known.get(plugin);
  if (before !== undefined) return before;
  const fields = SETTING_SCOPES.flatMap((scope) => {
    const schema = plugin.settings[scope];
    if (schema === undefined) return [];
    const defaults = new Map<string, unknown>(Object.entries(schema.parse({})));
    return Object.entries(schema.shape).map(([key, field]) => describeField(scope, key, field, defaults.get(key)));
  });
  known.set(plugin, fields);
  return fields;
}

function describeField(scope: SettingScope, key: string, schema: z.core.$ZodType, fallback: unknown): Field {
  const json = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const kind = optionTraits.get(zodSchema)?.kind;
      if (kind !== undefined) jsonSchema.kind = kind;
    },
  });
  const type = fieldTypeOf(json);
  // Also when only a part of the value is secret: then all of it is.
  const secret = JSON.stringify(json).includes('"secret":true');
  return {
    scope,
    key,
    type,
    words: secret ? `secret ${inWords(type)}` : inWords(type),
    description: json.description ?? '',
    secret,
    default: fallback,
    ...(typeof json.ceiling === 'number' ? { ceiling: json.ceiling } : {}),
    ...(typeof json.noLimit === 'number' ? { noLimit: json.noLimit } : {}),
    isModel: json.model === true,
    check(value) {
      const [issue] = z.safeParse(schema, value).error?.issues ?? [];
      return issue && { message: issue.message, at: issue.path.join('.'), custom: issue.code === 'custom' };
    },
  };
}

/** A value as it may be shown. */
export function shownValue(field: Field, value: unknown): unknown {
  return field.secret ? shownSecret(value) : value;
}

function shownSecret(value: unknown): string {
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return value === undefined || value === null || value === '' || isEmpty ? '(not set)' : '(set)';
}

/** Which settings of each scope are secret: all that needs to be remembered of a plugin that has stopped. */
export type SecretKeys = ReadonlyMap<SettingScope, ReadonlySet<string>>;

export function secretKeysOf(plugin: Plugin): SecretKeys {
  const secret = fieldsOf(plugin).filter((field) => field.secret);
  return new Map(
    SETTING_SCOPES.map((scope) => [
      scope,
      new Set(secret.filter((field) => field.scope === scope).map((field) => field.key)),
    ]),
  );
}

/** Stored settings of a scope with the secrets taken out. */
export function hideSecrets(secret: SecretKeys, scope: SettingScope, data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, secret.get(scope)?.has(key) ? shownSecret(value) : value]),
  );
}

/** The JSON Schema of one setting, with what `.meta()` added. */
type FieldSchema = z.core.JSONSchema.BaseSchema;

interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

/** Made from JSON Schema, so that it does not matter which copy of zod a plugin brings. */
function fieldTypeOf(schema: FieldSchema): SettingType {
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return either(alternatives.filter((one) => typeof one === 'object').map(fieldTypeOf));
  if (schema.const !== undefined) return { kind: 'choice', values: [schema.const] };
  if (schema.enum !== undefined) return { kind: 'choice', values: schema.enum };
  if (Array.isArray(schema.type)) return either(schema.type.map((type) => fieldTypeOf({ ...schema, type })));
  switch (schema.type) {
    case 'boolean':
      return { kind: 'boolean' };
    case 'null':
      return { kind: 'nothing' };
    case 'integer':
    case 'number':
      return numberType(schema);
    case 'string':
      return textType(schema);
    case 'array':
      return {
        kind: 'list',
        of:
          typeof schema.items === 'object' && !Array.isArray(schema.items)
            ? fieldTypeOf(schema.items)
            : { kind: 'anything' },
        ...bounds(schema.minItems, schema.maxItems),
      };
    case 'object':
      return { kind: 'object' };
    default:
      return { kind: 'anything' };
  }
}

function either(of: readonly SettingType[]): SettingType {
  const [only] = of;
  return of.length === 1 && only !== undefined ? only : { kind: 'either', of };
}

function bounds(min: number | undefined, max: number | undefined): Bounds {
  const bounded = (limit: number | undefined): limit is number =>
    limit !== undefined && Math.abs(limit) < Number.MAX_SAFE_INTEGER;
  return { ...(bounded(min) ? { min } : {}), ...(bounded(max) ? { max } : {}) };
}

function numberType(schema: FieldSchema): SettingType {
  const within = bounds(schema.minimum, schema.maximum);
  if (schema.kind === 'duration') return { kind: 'duration', ...within };
  const { exclusiveMinimum: above, exclusiveMaximum: below } = schema;
  return {
    kind: 'number',
    whole: schema.type === 'integer',
    ...within,
    ...(typeof above === 'number' ? { above } : {}),
    ...(typeof below === 'number' ? { below } : {}),
  };
}

function textType(schema: FieldSchema): SettingType {
  const of = SETTING_MENTIONS.find((mention) => mention === schema.kind);
  if (of !== undefined) return { kind: 'mention', of };
  const { format } = schema;
  return { kind: 'text', ...bounds(schema.minLength, schema.maxLength), ...(format === undefined ? {} : { format }) };
}

const FORMATS: Readonly<Record<string, string>> = {
  uri: 'web address',
  email: 'email address',
  'date-time': 'date and time',
  date: 'date',
  time: 'time',
  uuid: 'UUID',
};

/** A type for people: `whole number from 1 to 20`, `one of plain, cyberpunk, terminal`, `list of channels`. */
export function inWords(type: SettingType): string {
  switch (type.kind) {
    case 'boolean':
      return 'yes or no';
    case 'nothing':
      return 'none';
    case 'object':
      return 'JSON object';
    case 'anything':
      return 'anything, as JSON or text';
    case 'number':
      return `${type.whole ? 'whole number' : 'number'}${range(type, String)}${open(type.above, 'above')}${open(type.below, 'below')}`;
    case 'duration':
      return `duration${range(type.min === 0 ? { ...type, min: undefined } : type, formatDuration)}`;
    case 'text':
      return `${type.format === undefined ? 'text' : (FORMATS[type.format] ?? 'text')}${lengths(type)}`;
    case 'mention':
      return type.of;
    case 'choice':
      return type.values.length === 1 ? String(type.values[0]) : `one of ${type.values.map(String).join(', ')}`;
    case 'list':
      return `list of ${plural(type.of)}${range(type, (count) => `${count} items`, ', ')}`;
    case 'either':
      return type.of.map(inWords).join(' or ');
  }
}

function range(
  { min, max }: { readonly min?: number | undefined; readonly max?: number },
  show: (value: number) => string,
  before = ' ',
): string {
  if (min !== undefined && max !== undefined) return `${before}from ${show(min)} to ${show(max)}`;
  if (min !== undefined) return `${before}of at least ${show(min)}`;
  return max === undefined ? '' : `${before}of at most ${show(max)}`;
}

function open(limit: number | undefined, word: string): string {
  return limit === undefined ? '' : ` ${word} ${limit}`;
}

function lengths({ min, max }: { readonly min?: number; readonly max?: number }): string {
  if (min !== undefined && max !== undefined) return ` of ${min} to ${max} characters`;
  if (min !== undefined) return min <= 1 ? '' : ` of at least ${min} characters`;
  return max === undefined ? '' : ` of at most ${max} characters`;
}

function plural(type: SettingType): string {
  if (type.kind === 'mention') return `${type.of}s`;
  if (type.kind === 'number') return inWords(type).replace('number', 'numbers');
  if (type.kind === 'duration') return inWords(type).replace('duration', 'durations');
  return inWords(type);
}
