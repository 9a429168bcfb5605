import {
  formatDuration,
  issueLanguage,
  optionTraits,
  type Plugin,
  SETTING_MENTIONS,
  SETTING_SCOPES,
  type SettingMention,
  type SettingScope,
  type SettingType,
  t,
  z,
} from '@cinnabar/sdk';

/** One declared setting, with the facts from its schema. */
export interface Field {
  readonly scope: SettingScope;
  readonly key: string;
  readonly type: SettingType;
  readonly isNumber: boolean;
  /** Its type, for people. */
  words(): string;
  readonly description: string;
  readonly secret: boolean;
  readonly default: unknown;
  /** The author's own maximum; the owner may set another. */
  readonly ceiling: number | undefined;
  /** The number that means "no limit". */
  readonly noLimit: number | undefined;
  /** Whether its value is a model: then admins can choose one of those that the owner allows. */
  readonly isModel: boolean;
  /** `undefined` when the value is valid, otherwise the first problem, in zod's or the author's words. */
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
    const defaults = new Map<string, unknown>(Object.entries(schema.parse({}, { jitless: true })));
    return Object.entries(schema.shape).map(([key, field]) => describeField(scope, key, field, defaults.get(key)));
  });
  known.set(plugin, fields);
  return fields;
}

/** Describes a setting. Its schema is analysed at the first use, since a start needs few of the facts. */
function describeField(scope: SettingScope, key: string, schema: z.core.$ZodType, fallback: unknown): Field {
  let known: Described | undefined;
  let secret: boolean | undefined;
  const described = () => {
    known ??= describeSchema(schema);
    return known;
  };
  return {
    scope,
    key,
    default: fallback,
    get type() {
      return described().type;
    },
    get isNumber() {
      return mayHoldNumber(schema) && described().type.kind === 'number';
    },
    words() {
      const { type } = described();
      return this.secret ? t('secret {type}', { type: inWords(type) }) : inWords(type);
    },
    get description() {
      return described().description;
    },
    get secret() {
      secret ??= isSecret(schema);
      return secret;
    },
    get ceiling() {
      return described().ceiling;
    },
    get noLimit() {
      return described().noLimit;
    },
    get isModel() {
      return described().isModel;
    },
    check(value) {
      const [issue] = z.safeParse(schema, value, issueLanguage()).error?.issues ?? [];
      return issue && { message: issue.message, at: issue.path.join('.'), custom: issue.code === 'custom' };
    },
  };
}

/** Whether a value, or any part of it, is secret: the whole value counts as secret then. */
function isSecret(schema: z.core.$ZodType): boolean {
  return someSchema(schema, (part) => z.globalRegistry.get(part)?.secret === true);
}

/** Whether the type may be a number. Excludes most settings without making their JSON Schema: a start checks every setting of a server. */
function mayHoldNumber(schema: z.core.$ZodType): boolean {
  return someSchema(schema, ({ _zod: { def } }) => def.type === 'number' || def.type === 'lazy');
}

/** Whether a schema, or one of those that it consists of, has a property. */
export function someSchema(
  schema: z.core.$ZodType,
  has: (part: z.core.$ZodType) => boolean,
  seen = new Set<unknown>(),
): boolean {
  if (seen.has(schema)) return false;
  seen.add(schema);
  if (has(schema)) return true;
  return Object.values(schema._zod.def)
    .flatMap((part: unknown) => (isObject(part) && !isSchema(part) ? Object.values(part) : [part]))
    .some((part) => isSchema(part) && someSchema(part, has, seen));
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
/** Whether a value is a schema. A check of a schema, such as a minimum, is none. */
const isSchema = (value: unknown): value is z.core.$ZodType =>
  isObject(value) && '_zod' in value && isObject(value._zod) && 'parse' in value._zod;

type Described = Pick<Field, 'type' | 'description' | 'ceiling' | 'noLimit' | 'isModel'>;

function describeSchema(schema: z.core.$ZodType): Described {
  const json = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const kind = optionTraits.get(zodSchema)?.kind;
      if (kind !== undefined) jsonSchema.kind = kind;
    },
  });
  return {
    type: fieldTypeOf(json),
    description: json.description ?? '',
    ceiling: typeof json.ceiling === 'number' ? json.ceiling : undefined,
    noLimit: typeof json.noLimit === 'number' ? json.noLimit : undefined,
    isModel: json.model === true,
  };
}

/** A value without secrets, for display. */
export function shownValue(field: Field, value: unknown): unknown {
  return field.secret ? shownSecret(value) : value;
}

function shownSecret(value: unknown): string {
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return value === undefined || value === null || value === '' || isEmpty ? '(not set)' : '(set)';
}

/** The secret settings of each scope. No other data of a stopped plugin are kept in memory. */
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

/** Stored settings of a scope without the secrets. */
export function hideSecrets(secret: SecretKeys, scope: SettingScope, data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, secret.get(scope)?.has(key) ? shownSecret(value) : value]),
  );
}

/** The JSON Schema of one setting, with the properties that `.meta()` has added. */
export type FieldSchema = z.core.JSONSchema.BaseSchema;

interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

/** Made from JSON Schema, which does not depend on the plugin's copy of zod. */
export function fieldTypeOf(schema: FieldSchema): SettingType {
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

/** The formats of text that JSON Schema has names for. */
const formats = (): Readonly<Record<string, string>> => ({
  uri: t('web address'),
  email: t('email address'),
  'date-time': t('date and time'),
  date: t('date'),
  time: t('time'),
  uuid: t('UUID'),
  'time-zone': t('time zone'),
});

/** A type for people: `whole number from 1 to 20`, `one of plain, cyberpunk, terminal`, `list of channels`. */
export function inWords(type: SettingType): string {
  switch (type.kind) {
    case 'boolean':
      return t('yes or no');
    case 'nothing':
      // Not translated, since it is typed like this.
      return 'none';
    case 'object':
      return t('JSON object');
    case 'anything':
      return t('anything, as JSON or text');
    case 'number':
      return numberInWords(type, type.whole ? t('whole number') : t('number'));
    case 'duration':
      return durationInWords(type, t('duration'));
    case 'text':
      return textInWords(type, (type.format === undefined ? undefined : formats()[type.format]) ?? t('text'));
    case 'mention':
      return mentionInWords(type.of);
    case 'choice':
      return type.values.length === 1
        ? String(type.values[0])
        : t('one of {choices}', { choices: type.values.map(String).join(', ') });
    case 'list':
      return listInWords(type);
    case 'either':
      return eitherOf(type.of.map(inWords));
  }
}

type Kind<K extends SettingType['kind']> = Extract<SettingType, { kind: K }>;

/** Joins the alternatives of a union: "text or number". */
export const eitherOf = (words: readonly string[]): string =>
  words.length === 0 ? '' : words.reduce((one, other) => t('{one} or {other}', { one, other }));

function numberInWords({ above, below, ...type }: Kind<'number'>, name: string): string {
  const atLeast = inRange(name, type, String);
  const open = above === undefined ? atLeast : t('{type} above {limit}', { type: atLeast, limit: above });
  return below === undefined ? open : t('{type} below {limit}', { type: open, limit: below });
}

const durationInWords = (type: Kind<'duration'>, name: string) =>
  inRange(name, type.min === 0 ? { max: type.max } : type, formatDuration);

interface OptionalBounds {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

function inRange(type: string, { min, max }: OptionalBounds, show: (value: number) => string): string {
  if (min !== undefined && max !== undefined) {
    return t('{type} from {min} to {max}', { type, min: show(min), max: show(max) });
  }
  if (min !== undefined) return t('{type} of at least {min}', { type, min: show(min) });
  return max === undefined ? type : t('{type} of at most {max}', { type, max: show(max) });
}

function textInWords({ min, max }: Kind<'text'>, type: string): string {
  if (min !== undefined && max !== undefined) return t('{type} of {min} to {max} characters', { type, min, max });
  if (min !== undefined) return min <= 1 ? type : t('{type} of at least {min} characters', { type, min });
  return max === undefined ? type : t('{type} of at most {max} characters', { type, max });
}

/** `channel` and the like, as a word. */
export function mentionInWords(of: SettingMention): string {
  switch (of) {
    case 'channel':
      return t('channel');
    case 'role':
      return t('role');
    case 'user':
      return t('user');
    case 'member':
      return t('member');
  }
}

function listInWords({ of, min, max }: Kind<'list'>): string {
  const type = t('list of {items}', { items: plural(of) });
  if (min !== undefined && max !== undefined) return t('{type}, from {min} items to {max} items', { type, min, max });
  if (min !== undefined) return t('{type}, of at least {min} items', { type, min });
  return max === undefined ? type : t('{type}, of at most {max} items', { type, max });
}

function plural(type: SettingType): string {
  if (type.kind === 'mention') return mentionsInWords(type.of);
  if (type.kind === 'number') return numberInWords(type, type.whole ? t('whole numbers') : t('numbers'));
  if (type.kind === 'duration') return durationInWords(type, t('durations'));
  return inWords(type);
}

function mentionsInWords(of: SettingMention): string {
  switch (of) {
    case 'channel':
      return t('channels');
    case 'role':
      return t('roles');
    case 'user':
      return t('users');
    case 'member':
      return t('members');
  }
}
