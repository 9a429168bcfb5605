import { type Clock, defined, type Embeddings, type Random } from '@cinnabar/sdk';
import { z } from 'zod';
import type { Family } from '../traits.js';
import {
  type Account,
  CONNECTION_LOST,
  type HttpProblem,
  isConnectionLost,
  type ReadError,
  toFailure,
  unreadable,
} from './errors.js';
import type { Attempt, EmbedCall, Failure, Mode, Provider, ProviderCall } from './provider.js';

/** Schemas by key. */
type Shape = Readonly<Record<string, z.ZodType>>;

/** Settings, environment or a vendor's configuration, with the keys of all providers. Each provider reads its own keys. */
export type Values = Readonly<Record<string, unknown>>;

/**
 * A provider, exported by its folder. The rest of the plugin uses the list in `registry.ts` and names no provider: settings, environment variables, vendors,
 * routes, `!llm status` and errors follow from the definition.
 */
export interface ProviderDefinition {
  /** The name in the setting `provider` and in `vendors`. */
  readonly name: string;
  /** For display: `OpenAI`. */
  readonly title: string;
  /** With the setting `provider` on `auto`, the configured provider with the lowest number answers. */
  readonly autoRank: number;
  /** Why `auto` has selected it, for status lines. */
  readonly because: string;
  /** Its own keys of the plugin's settings. */
  readonly settings: Shape;
  readonly environment: Shape;
  /** Its keys in a vendor's `config`, in addition to the common ones. */
  readonly vendorConfig: Shape;
  /** Keys that identify a vendor as this provider's, when `provider` is not given. */
  readonly impliedBy: readonly string[];
  /** Whether a vendor may have its own `headers` and `body`. */
  readonly takesHeadersAndBody: boolean;
  readonly variables: ProviderVariables;
  /** Whether it needs a key or an address. */
  readonly needsKey: boolean;
  /** Its only model, which answers whatever model a request names. */
  readonly onlyModel?: string;
  /** Shown in a status instead of address and key. */
  readonly statusNote?: string;
  /** The highest temperature that its API accepts. */
  readonly maxTemperature: number;
  /** The traits of a model: modes, images, cache rules, prices. */
  familyOf(model: string): Family;
  /** Its configuration from settings and environment. A setting takes precedence over the corresponding variable. */
  fromEnvironment(settings: Values, env: Values): EnvironmentSetup;
  /**
   * Its configuration in one vendor. A key of the environment is sent only to the address in the environment: a vendor with its own address needs its own key,
   * or none. Absent for a provider without a server.
   */
  fromVendor?(config: VendorConfig, settings: Values, env: Values): VendorSetup;
}

/** The names of a provider's environment variables, for sentences. */
interface ProviderVariables {
  readonly key?: string;
  readonly baseUrl?: string;
  readonly model?: string;
  /** Present when the provider has embeddings. */
  readonly embeddingModel?: string;
}

interface EnvironmentSetup {
  /** Whether `auto` may select it. */
  readonly isSetUp: boolean;
  /** Why it cannot answer: the missing or invalid configuration. */
  readonly problem: string | undefined;
  /** The model in the environment, or the provider's default. */
  readonly model: string | undefined;
  /** The missing part, for an error sentence when there is no model. */
  readonly missingModel: string;
  readonly embeddingModel: string | undefined;
  readonly connection: Connection;
}

/** `problem` is appended to `the vendor "NAME"`. */
type VendorSetup = { readonly problem: string } | { readonly problem: undefined; readonly connection: Connection };

/** The destination of requests, after settings and environment were resolved. */
export interface Source {
  readonly provider: string;
  /** `undefined` when the model runs within this process. */
  readonly baseUrl?: string;
}

/** A provider at one address with one key. */
export interface Connection {
  readonly definition: ProviderDefinition;
  /** Equal for equal settings. Contains keys: never show or log it. */
  readonly source: Source;
  readonly hasKey: boolean;
  /** Details for a status, besides address and key: `['API', 'chat']`. */
  readonly details: readonly (readonly [name: string, value: string])[];
  /** A request that is free of charge and refused without a valid key; absent when there is none. */
  readonly listing?: Listing;
  /** Creates the provider. Its SDK is loaded with the first request. */
  open(services: { readonly clock: Clock; readonly random: Random }): Provider;
}

/** A GET request for the list of models. */
export interface Listing {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

type ValuesOf<S extends Shape> = z.output<z.ZodObject<S>>;

/** The configured values of a source, before the provider's defaults. */
interface ConnectionSettings {
  readonly key?: string | undefined;
  readonly baseUrl?: string | undefined;
}

/** A provider with a server, an SDK and keys, as its folder defines it. */
interface ProviderSpec<
  Settings extends Shape,
  Env extends Shape,
  Config extends Shape,
  Parts extends ConnectionSettings,
  Data extends { readonly baseUrl: string },
  Sdk,
  Client,
> {
  readonly name: string;
  readonly title: string;
  readonly autoRank: number;
  readonly because: string;
  readonly settings: Settings;
  readonly environment: Env;
  readonly vendorConfig: Config;
  readonly impliedBy: readonly string[];
  readonly takesHeadersAndBody?: true;
  readonly variables: ProviderVariables & { readonly key: string; readonly baseUrl: string; readonly model: string };
  readonly defaultModel?: string;
  /** The missing value when there is no default model, for an error sentence: `a model that your account may use`. */
  readonly missingModel?: string;
  /** Whether it can work without key and address, since its SDK finds credentials. */
  readonly keyIsOptional?: true;
  partsOf(settings: ValuesOf<Settings>, env: ValuesOf<Env>): Parts;
  vendorParts(config: ValuesOf<typeof COMMON_VENDOR_CONFIG & Config>): Parts;
  /** Combines the parts of a vendor with its own key or address with those that it may take from the environment. */
  completed?(own: Parts, outside: Parts): Parts;
  /** Whether `auto` may select it; by default with a key or an address. */
  isSetUp?(parts: Parts, model: string | undefined): boolean;
  /** Problems of parts from the environment, and of a vendor's parts. */
  problemWith?(parts: Parts): { readonly environment?: string; readonly vendor?: string } | undefined;
  source(parts: Parts): Data;
  details?(source: Data): Connection['details'];
  listing?(source: Data): Listing;

  readonly maxTemperature: number;
  familyOf(model: string): Family;

  loadSdk(): Promise<Sdk>;
  /** The SDK's client. Disable the SDK's own time limits and retries: the plugin handles both. */
  client(sdk: Sdk, source: Data): Client;
  modes(source: Data): readonly Mode[];
  send(client: Client, call: ProviderCall, context: SendContext<Data>): Promise<Attempt>;
  render(call: ProviderCall, context: { readonly source: Data; sdk(): Promise<Sdk> }): unknown;
  /** Maximum number of texts in one request for embeddings. */
  readonly mostTexts?: number;
  embed?(client: Client, call: EmbedCall): Promise<Attempt<Embeddings>>;
  /** The account for the sentences of its errors. */
  account(source: Data): Account;
  /** Parses an error of the SDK. */
  readError(error: unknown, sdk: Sdk): ReadError;
}

interface SendContext<Data> {
  readonly source: Data;
  /** Converts an error within a stream. */
  explain(problem: HttpProblem): Failure;
}

/** Makes the definition of a provider with a server. Its functions receive values that match its own schemas. */
export function defineProvider<
  Settings extends Shape,
  Env extends Shape,
  Config extends Shape,
  Parts extends ConnectionSettings,
  Data extends { readonly baseUrl: string },
  Sdk,
  Client,
>(spec: ProviderSpec<Settings, Env, Config, Parts, Data, Sdk, Client>): ProviderDefinition {
  const { name, variables, takesHeadersAndBody = false } = spec;
  const needsKey = spec.keyIsOptional !== true;
  const settingsSchema = z.object(spec.settings);
  const environmentSchema = z.object(spec.environment);
  const configSchema = z.object({ ...COMMON_VENDOR_CONFIG, ...spec.vendorConfig });
  const loadSdk = once(spec.loadSdk);

  const partsFrom = (settings: Values, env: Values): Parts =>
    spec.partsOf(settingsSchema.parse(settings), environmentSchema.parse(env));
  const isWithout = ({ key, baseUrl }: Parts) => needsKey && key === undefined && baseUrl === undefined;
  const connect = (parts: Parts): Connection => {
    const source = spec.source(parts);
    return {
      definition,
      source: { provider: name, ...source },
      hasKey: parts.key !== undefined,
      details: spec.details?.(source) ?? [],
      ...defined({ listing: spec.listing?.(source) }),
      open: ({ clock }) => openProvider(spec, source, loadSdk, clock),
    };
  };
  const definition: ProviderDefinition = {
    name,
    title: spec.title,
    autoRank: spec.autoRank,
    because: spec.because,
    settings: spec.settings,
    environment: spec.environment,
    vendorConfig: spec.vendorConfig,
    impliedBy: spec.impliedBy,
    takesHeadersAndBody,
    variables,
    needsKey,
    maxTemperature: spec.maxTemperature,
    familyOf: spec.familyOf,
    fromEnvironment(settings, env) {
      const parts = partsFrom(settings, env);
      const model = textIn(env, variables.model);
      const { key, baseUrl } = parts;
      return {
        isSetUp: spec.isSetUp?.(parts, model) ?? (key !== undefined || baseUrl !== undefined),
        problem: isWithout(parts)
          ? `${variables.key} is not set. Set it to your key, or ${variables.baseUrl} to the address of a compatible server`
          : spec.problemWith?.(parts)?.environment,
        model: model ?? spec.defaultModel,
        missingModel: `${variables.model} is not set. Set it, or the setting model, to ${spec.missingModel ?? 'a model'}`,
        embeddingModel: textIn(env, variables.embeddingModel),
        connection: connect(parts),
      };
    },
    fromVendor(config, settings, env) {
      const { data, error } = configSchema.safeParse(config);
      if (error !== undefined) return { problem: `has a ${String(error.issues[0]?.path[0])} that cannot be used` };
      const own = spec.vendorParts(data);
      const outside = partsFrom(settings, env);
      const isOwn = own.baseUrl !== undefined || own.key !== undefined;
      const parts = isOwn ? (spec.completed?.(own, outside) ?? own) : { ...outside, ...defined(own) };
      const problem = isWithout(parts) ? 'has neither a key (apiKey) nor a baseUrl' : spec.problemWith?.(parts)?.vendor;
      return problem === undefined ? { problem, connection: connect(parts) } : { problem };
    },
  };
  return definition;
}

function openProvider<Data extends { readonly baseUrl: string }, Sdk, Client>(
  spec: Pick<
    ProviderSpec<Shape, Shape, Shape, ConnectionSettings, Data, Sdk, Client>,
    'name' | 'client' | 'modes' | 'send' | 'render' | 'mostTexts' | 'embed' | 'account' | 'readError'
  >,
  source: Data,
  sdk: () => Promise<Sdk>,
  clock: Clock,
): Provider {
  const account = spec.account(source);
  const ready = once(async () => {
    const loaded = await sdk();
    return { loaded, client: spec.client(loaded, source) };
  });
  const explain = (problem: HttpProblem) => toFailure(problem, account, clock.now());
  const attempted = async <R>(
    signal: AbortSignal,
    request: (client: Client) => Promise<Attempt<R>>,
  ): Promise<Attempt<R>> => {
    const { loaded, client } = await ready();
    try {
      return await request(client);
    } catch (error) {
      const read = spec.readError(error, loaded);
      if (read === 'connection lost' || signal.aborted || isConnectionLost(error)) {
        return { ok: false, failure: CONNECTION_LOST };
      }
      if (read !== undefined) return { ok: false, failure: explain(read) };
      if (error instanceof SyntaxError) return { ok: false, failure: unreadable(`${account.host} did not send JSON`) };
      throw error;
    }
  };
  const { embed, mostTexts } = spec;
  return {
    name: spec.name,
    modes: spec.modes(source),
    send: (call) => attempted(call.signal, (client) => spec.send(client, call, { source, explain })),
    render: (call) => spec.render(call, { source, sdk }),
    ...(embed === undefined
      ? {}
      : { embed: (call: EmbedCall) => attempted(call.signal, (client) => embed(client, call)) }),
    ...(mostTexts === undefined ? {} : { mostTexts }),
  };
}

/** Loads a module at the first use and caches it; tries again after a failure. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}

function textIn(values: Values, name: string | undefined): string | undefined {
  const value = name === undefined ? undefined : values[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** For SDKs whose own time limit cannot be switched off: the plugin limits and retries requests itself. */
export const NO_SDK_TIMEOUT_MS = 2_147_483_647;

/** An http or https address, or nothing. */
export const httpUrl = z
  .string()
  .trim()
  .refine(
    (value) => value === '' || isHttpUrl(value),
    'must be an http or https address without a user name, such as http://localhost:11434/v1',
  );

/** Whether a text is an http or https address without a user name or password in it. */
export function isHttpUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

/** The name of a model or region in an environment variable. */
export const nameVariable = z.string().trim();

/** A key in an environment variable. Other characters are not allowed in a header, and the resulting error would show the key. */
export const keyVariable = z
  .string()
  .trim()
  .regex(/^[\x21-\x7e]*$/, 'must be the key alone, without spaces or line breaks')
  .meta({ secret: true });

/** A key in the configuration of a vendor, or a reference to a variable. */
export const vendorSecret = z.string().trim().min(1).max(4000).meta({ secret: true });

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
/** Fields that a request sets itself: extra fields with these names would change it. */
const OWN_FIELDS = ['model', 'messages', 'input', 'instructions', 'stream', 'stream_options', 'tools', 'store'];

/** Keys of every vendor's `config`. `${NAME}` stands for the environment variable NAME. */
export const COMMON_VENDOR_CONFIG = {
  apiKey: vendorSecret.exactOptional(),
  baseUrl: z.string().trim().min(1).max(1000).exactOptional(),
  /** Sent with each request to a compatible server, in addition to the request's own headers. */
  headers: z
    .record(
      z.string().regex(HEADER_NAME, 'must be the name of a header'),
      z
        .string()
        .trim()
        .min(1)
        .max(4000)
        .regex(/^[\x20-\x7e]*$/, 'must be one line of plain text')
        .meta({ secret: true }),
    )
    .refine((value) => Object.keys(value).length <= 20, 'must be 20 headers at most')
    .exactOptional(),
  /** Fields of the body for a compatible server; they override the sampling parameters of a request. */
  body: z
    .record(z.string().min(1).max(100), z.json())
    .refine((value) => Object.keys(value).every((field) => !OWN_FIELDS.includes(field)), {
      message: `must not hold ${OWN_FIELDS.join(', ')}: these are the request's own`,
    })
    .exactOptional(),
};
export type VendorConfig = z.output<z.ZodObject<typeof COMMON_VENDOR_CONFIG>>;
