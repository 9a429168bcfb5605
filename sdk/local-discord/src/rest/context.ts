import type { ZodType } from 'zod';
import { discordError } from '../errors.js';
import type { LocalApplication } from '../state/application.js';
import type { UploadedFile } from '../state/attachment.js';
import type { LocalUser } from '../state/user.js';
import type { World } from '../state/world.js';
import type { RequestBody } from './body.js';
import { parseForm } from './parse.js';

/** One request on its way through a route. */
export interface RestContext {
  readonly world: World;
  /** The bot that asks. On routes with a token in the path, throws 401 unless a bot token was sent as well. */
  readonly application: LocalApplication;
  /** The bot's user. */
  readonly user: LocalUser;
  readonly query: URLSearchParams;
  readonly files: readonly UploadedFile[];
  /** The audit-log reason that came along. */
  readonly reason: string | undefined;
  /** The JSON body as it came. */
  readonly json: unknown;
  param(name: string): string;
  /** The JSON body, checked. @throws 50035 with Discord's tree */
  form<T>(schema: ZodType<T>): T;
  /** A part of the body, checked the same way. */
  parse<T>(schema: ZodType<T>, json: unknown): T;
}

export function createContext(
  world: World,
  application: LocalApplication | undefined,
  params: Readonly<Record<string, string | undefined>>,
  query: URLSearchParams,
  body: RequestBody,
  reason: string | undefined,
): RestContext {
  const bot = (): LocalApplication => {
    if (!application) throw discordError('unauthorized');
    return application;
  };
  return {
    world,
    query,
    files: body.files,
    reason,
    json: body.json,
    get application() {
      return bot();
    },
    get user() {
      return bot().user;
    },
    param: (name) => params[name] ?? '',
    form: (schema) => parseForm(schema, body.json),
    parse: parseForm,
  };
}
