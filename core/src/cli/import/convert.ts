import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readYaml, z } from '@cinnabar/sdk';
import { isSnowflake } from '../../config/configuration.js';
import { botNameProblem } from '../../config/host-config.js';
import { isSecretName, redactShapes } from '../../observability/log-entry.js';
import type { Findings } from './import.js';

/** Schemas by key of everything that can be configured here. */
export type KnownKeys = Readonly<Record<string, z.core.$ZodType>>;

/** Translates a file's values into this project's settings. Values that have no counterpart, or no place in a file, are reported in `findings`. */
export function convertFile(
  { path, shown, bot, implied = {} }: SourceFile,
  known: KnownKeys,
  findings: Findings,
): Readonly<Record<string, unknown>> {
  const reading = readYaml(readFileSync(path, 'utf8'));
  if (!reading.ok) {
    findings.leftOut(`${shown}:${reading.line}: ${reading.problem}`);
    return {};
  }
  const converted = flatten(reading.values).flatMap(([theirs, value]): readonly (readonly [string, unknown])[] => {
    if (value === null) return [];
    if (theirs === 'vendors' && isGroup(value)) {
      const lineOf = (name: string) => reading.lineOf([theirs, name]);
      return vendorsHere(withoutVendorSecrets(value, shown, findings), known.vendors, (name, problem) =>
        findings.leftOut(`${shown}:${lineOf(name)}: vendors.${name} ${problem}`),
      );
    }
    if (isSecretKey(theirs) || holdsSecret(value)) {
      const variable = theirs.replace(/\W/g, '_').toUpperCase();
      findings.secret(variable, bot === undefined ? '.env' : `.env.${bot}`, `${shown}: ${theirs}`);
      return [];
    }
    const key = keyHere(theirs, Object.keys(known));
    const here = key === undefined ? value : asHere(key, value);
    const problem = problemWith(key === undefined ? undefined : known[key], here);
    if (problem === undefined && key !== undefined) return [[key, here]];
    findings.leftOut(`${shown}:${reading.lineOf(theirs.split('.'))}: ${theirs} ${problem}`);
    return [];
  });
  return converted.length === 0 ? {} : { ...implied, ...Object.fromEntries(converted) };
}

/** The vendors that can be used here, as the value of one key. */
function vendorsHere(
  vendors: Readonly<Record<string, unknown>>,
  schema: z.core.$ZodType | undefined,
  leaveOut: (name: string, problem: string) => void,
): readonly (readonly [string, unknown])[] {
  const usable = Object.entries(vendors).filter(([name, vendor]) => {
    const problem = problemWith(schema, { [name]: vendor });
    if (problem !== undefined) leaveOut(name, problem);
    return problem === undefined;
  });
  return usable.length === 0 ? [] : [['vendors', Object.fromEntries(usable)]];
}

function problemWith(schema: z.core.$ZodType | undefined, value: unknown): string | undefined {
  if (schema === undefined) return 'has no counterpart here';
  const [issue] = z.safeParse(schema, value).error?.issues ?? [];
  return issue && `has a value that cannot be used here: ${issue.message}`;
}

/** A value in the form of this project: `reply_on_random: false` meant never. */
function asHere(key: string, value: unknown): unknown {
  return key === 'replyOnRandom' && typeof value === 'boolean' ? Number(value) : value;
}

/** Keys of other programs that are called differently here, by their folded name (see `foldKey`). */
const RENAMED: Readonly<Record<string, string>> = {
  continuationmaxtokens: 'maxTokens',
  enginescomplete: 'continuationModel',
  promptmaxtokens: 'maxContextTokens',
  totalmaxtokens: 'maxContextTokens',
  imagelimitsmaximages: 'maxImages',
  samplingtemperature: 'temperature',
  samplingtopp: 'topP',
};

/** Groups whose keys stand at the top level here. */
const GROUPS = ['sampling', 'imagelimits', 'em'];

/** `continuation_model`, `continuation-model` and `continuationModel` are one key. */
function foldKey(key: string): string {
  return key.replace(/[_.-]/g, '').toLowerCase();
}

/** The key here that another program's key stands for. */
function keyHere(theirs: string, known: readonly string[]): string | undefined {
  const folded = foldKey(theirs);
  return RENAMED[folded] ?? known.find((key) => foldKey(key) === folded);
}

/** All keys of a file at one level: those in groups, and those of its Discord interface. A key that is `em.name` in one file is `name` in another. */
function flatten(values: Readonly<Record<string, unknown>>): readonly (readonly [key: string, value: unknown])[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const folded = foldKey(key);
    if (folded === 'interfaces' && Array.isArray(value)) return value.flatMap(discordPart);
    if (!isGroup(value) || !GROUPS.includes(folded)) return [[key, value] as const];
    const inside = flatten(value);
    return folded === 'em' ? inside : inside.map(([inner, one]) => [`${key}.${inner}`, one] as const);
  });
}

function discordPart(part: unknown): readonly (readonly [string, unknown])[] {
  if (!isGroup(part)) return [['interfaces', part]];
  const { name, ...others } = part;
  return name === 'discord' ? flatten(others) : [[`interfaces.${String(name)}`, others]];
}

function isGroup(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The address of a proxy often contains its password. */
const ALSO_SECRET = /secret[_-]?key|proxy[_-]?url|dsn/i;

/** Whether a key's value must not be copied into a file. */
function isSecretKey(key: string): boolean {
  return isSecretName(key) || ALSO_SECRET.test(key);
}

/** Whether a value contains something that looks like a credential, whatever its key is called. */
function holdsSecret(value: unknown): boolean {
  const text = JSON.stringify(value) ?? '';
  return redactShapes(text) !== text;
}

/** Keys of vendors that are called differently here. */
const VENDOR_KEYS: Readonly<Record<string, string>> = { api_base: 'baseUrl', base_url: 'baseUrl', endpoint: 'baseUrl' };

/** Every model, in the two notations. */
const ANY = ['*', '.*'] as const;

/** Vendors with their secrets replaced by references to the environment: `${ANTHROPIC_API_KEY}`. */
function withoutVendorSecrets(
  vendors: Readonly<Record<string, unknown>>,
  from: string,
  findings: Findings,
): Readonly<Record<string, unknown>> {
  const taken = new Map<string, unknown>();
  const reference = (vendor: string, key: string, value: unknown) => {
    const plain = key.toUpperCase();
    const known = taken.get(plain);
    // Two vendors may have keys of one name with different values, such as two OpenAI-compatible services.
    const variable =
      known === undefined || known === value ? plain : `${vendor}_${key}`.toUpperCase().replace(/\W/g, '_');
    taken.set(variable, value);
    findings.secret(variable, '.env', `${from}: vendors.${vendor}.config.${key}`);
    return `\${${variable}}`;
  };
  return Object.fromEntries(
    Object.entries(vendors).map(([vendor, value]) => {
      if (!isGroup(value)) return [vendor, value];
      const config = isGroup(value.config) ? value.config : {};
      const safe = Object.entries(config).map(([key, one]) =>
        isSecretKey(key) || holdsSecret(one) ? [key, reference(vendor, key, one)] : [VENDOR_KEYS[key] ?? key, one],
      );
      const provides = Array.isArray(value.provides)
        ? { provides: value.provides.map((pattern: unknown) => (pattern === ANY[0] ? ANY[1] : pattern)) }
        : {};
      return [vendor, { ...value, ...provides, ...(safe.length === 0 ? {} : { config: Object.fromEntries(safe) }) }];
    }),
  );
}

/** The data found of another program, in its own terms. */
export interface ImportSource {
  readonly files: readonly SourceFile[];
  /** Folders of tool calls: `{channel}/{YYYY-MM-DD-HH}.jsonl` inside. */
  readonly tools: readonly { readonly bot: string; readonly folder: string }[];
}

interface SourceFile {
  readonly path: string;
  /** Path inside the imported folder, for messages. */
  readonly shown: string;
  /** The file that receives the values, relative to the folder of the configuration. */
  readonly target: string;
  /** The bot whose values these are; `undefined`: all bots. */
  readonly bot: string | undefined;
  /** Values that apply there by default. */
  readonly implied?: Readonly<Record<string, unknown>>;
}

const CONFIG_NAMES = ['config.yaml', 'config.yml', 'config.json'];
/** Folders in which versions of that program kept its bots; the folder itself when it is one of those. */
const HOMES = ['ems', 'people', '.'];
/** That program sent a conversation as one text for the model to continue. */
const IMPLIED = { mode: 'prefill' };

/** `ems/config.yaml` for all, `ems/{bot}/config.yaml` for one, its token beside it in `discord_token`. */
export function findChapter2(dir: string, findings: Findings): ImportSource {
  const homes = HOMES.filter((home) => listing(join(dir, home)).folders.some((bot) => configIn(join(dir, home, bot))));
  const [home] = homes;
  if (home === undefined) return { files: [], tools: [] };
  const shared = configIn(join(dir, home));
  const bots = listing(join(dir, home)).folders.flatMap((theirs): readonly SourceFile[] => {
    const name = configIn(join(dir, home, theirs));
    const shown = [home, theirs, name ?? ''].filter((part) => part !== '.').join('/');
    const bot = name === undefined ? undefined : nameHere(theirs, shown, findings);
    if (bot === undefined || name === undefined) return [];
    if (listing(join(dir, home, theirs)).files.includes('discord_token')) {
      findings.secret('DISCORD_TOKEN', `.env.${bot}`, `${shown.replace(name, 'discord_token')}`);
    }
    return [{ path: join(dir, home, theirs, name), shown, target: join('bots', `${bot}.yaml`), bot, implied: IMPLIED }];
  });
  const all =
    shared === undefined
      ? []
      : [
          {
            path: join(dir, home, shared),
            shown: [home, shared].filter((part) => part !== '.').join('/'),
            target: 'shared.yaml',
            bot: undefined,
          },
        ];
  return {
    files: [...all, ...bots],
    tools: listing(join(dir, 'tools')).folders.map((bot) => ({ bot, folder: join(dir, 'tools', bot) })),
  };
}

function configIn(folder: string): string | undefined {
  const { files } = listing(folder);
  return CONFIG_NAMES.find((name) => files.includes(name));
}

/** `config/shared.yaml`, `config/guilds/{guild}.yaml`, `config/bots/{bot}[-{guild}].yaml`, `tools/{bot}/{channel}/{hour}.jsonl`. */
export function findChapter3(dir: string, findings: Findings): ImportSource {
  const file = (shown: string, target: string, bot?: string): SourceFile => ({
    path: join(dir, shown),
    shown,
    target,
    bot,
  });
  const shared = listing(join(dir, 'config')).files.filter((name) => name === 'shared.yaml');
  const guilds = listing(join(dir, 'config', 'guilds')).files.flatMap((name) => {
    const shown = `config/guilds/${name}`;
    if (isSnowflake(name.replace(/\.yaml$/, ''))) return [file(shown, join('guilds', name))];
    findings.leftOut(`${shown}: its name is not that of a guild's file`);
    return [];
  });
  const bots = listing(join(dir, 'config', 'bots')).files.flatMap((name) => {
    const shown = `config/bots/${name}`;
    const [, theirs = '', guild] = /^(.*?)(-\d{15,22})?\.yaml$/.exec(name) ?? [];
    const bot = nameHere(theirs, shown, findings);
    return bot === undefined ? [] : [file(shown, join('bots', `${bot}${guild ?? ''}.yaml`), bot)];
  });
  return {
    files: [...shared.map((name) => file(`config/${name}`, name)), ...guilds, ...bots],
    tools: listing(join(dir, 'tools')).folders.map((bot) => ({ bot, folder: join(dir, 'tools', bot) })),
  };
}

/** The user id that a bot's token begins with, in base64. */
export function idInToken(token: string | undefined): string | undefined {
  const [first = ''] = token?.split('.') ?? [];
  const id = Buffer.from(first, 'base64').toString('latin1');
  return isSnowflake(id) ? id : undefined;
}

/** A bot's name in the form that `--bot` accepts; `undefined`, with a finding, when there is none. */
export function nameHere(theirs: string, shown: string, findings: Findings): string | undefined {
  const name = theirs.trim().replace(/[^A-Za-z0-9_.-]+/g, '-');
  const problem = botNameProblem(name);
  if (problem !== undefined) {
    findings.leftOut(`${shown}: the bot's name ${problem}`);
    return undefined;
  }
  if (name !== theirs) findings.note(`${shown}: the bot is called ${name} here`);
  return name;
}

/** The folders and files directly below a folder of another program; links are left alone. Empty when there is no such folder. */
export function listing(folder: string): { readonly folders: readonly string[]; readonly files: readonly string[] } {
  try {
    const entries = readdirSync(folder, { withFileTypes: true }).sort((one, other) => (one.name < other.name ? -1 : 1));
    return {
      folders: entries.filter((entry) => entry.isDirectory()).map(({ name }) => name),
      files: entries.filter((entry) => entry.isFile()).map(({ name }) => name),
    };
  } catch {
    return { folders: [], files: [] };
  }
}
