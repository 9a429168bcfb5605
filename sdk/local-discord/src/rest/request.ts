import type { IncomingMessage } from 'node:http';
import type { Method } from '@cinnabar/local-http';
import { Busboy } from '@fastify/busboy';
import type { ZodType } from 'zod';
import type { $ZodIssue } from 'zod/v4/core';
import { discordError, type FormIssue, invalidForm } from '../errors.js';
import type { LocalApplication } from '../state/applications.js';
import type { UploadedFile } from '../state/messages.js';
import type { LocalUser } from '../state/users.js';
import type { World } from '../world.js';

/** The result of a route: `undefined` responds with 204, an object with 200, and `created()` with 201. */
type RouteResult = object | undefined;

export interface Route {
  readonly method: Method;
  /** The path in Discord's documentation, with `:names`: `/channels/:channelId/messages`. */
  readonly path: string;
  /** `false` when the token is in the path (webhooks, interactions). */
  readonly authenticated: boolean;
  /** The OAuth2 scope with which a user's access token is accepted as well. */
  readonly scope?: string;
  readonly handle: (context: RestContext) => RouteResult | Promise<RouteResult>;
}

/** A route for a bot's token. */
export function route(method: Method, path: string, handle: Route['handle']): Route {
  return { method, path, authenticated: true, handle };
}

/** A route for a bot's token, or for the access token of a user who has granted the scope. */
export function personRoute(method: Method, path: string, scope: string, handle: Route['handle']): Route {
  return { method, path, authenticated: true, scope, handle };
}

/** A route whose token is in its path. */
export function openRoute(method: Method, path: string, handle: Route['handle']): Route {
  return { method, path, authenticated: false, handle };
}

/** A response with status 201. */
export class Created {
  readonly body: object;
  constructor(body: object) {
    this.body = body;
  }
}

/** A request and the methods to read it. */
export interface RestContext {
  readonly world: World;
  /** The requesting bot. @throws 401 on routes with a token in the path, unless a bot token was sent as well */
  readonly application: LocalApplication;
  /** The bot's user, or the user of the access token. */
  readonly user: LocalUser;
  readonly query: URLSearchParams;
  readonly files: readonly UploadedFile[];
  /** The audit-log reason of the request. */
  readonly reason: string | undefined;
  /** The fields of a form in the body. */
  readonly fields: URLSearchParams | undefined;
  /** The JSON body, unchecked. */
  readonly json: unknown;
  param(name: string): string;
  /** The JSON body, checked. @throws 50035 with Discord's tree */
  form<T>(schema: ZodType<T>): T;
  /** A part of the body, checked. @throws 50035 */
  parse<T>(schema: ZodType<T>, json: unknown): T;
}

/** The caller: a bot, a user through an application, or unknown. */
interface Requester {
  readonly application?: LocalApplication | undefined;
  readonly person?: LocalUser | undefined;
}

export function createContext(
  world: World,
  { application, person }: Requester,
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
    fields: body.fields,
    reason,
    json: body.json,
    get application() {
      return bot();
    },
    get user() {
      return person ?? bot().user;
    },
    param: (name) => params[name] ?? '',
    form: (schema) => parseForm(schema, body.json),
    parse: parseForm,
  };
}

export interface RequestBody {
  json: unknown;
  files: UploadedFile[];
  fields?: URLSearchParams;
}

const MAX_BYTES = 25 * 1024 * 1024;

/** Reads JSON, a form, or one with `payload_json` and `files[n]`. @throws 50109 malformed, 40005 over 25 MiB */
export async function readBody(request: IncomingMessage): Promise<RequestBody> {
  const contentType = request.headers['content-type'] ?? '';
  if (contentType.startsWith('multipart/form-data')) return readMultipart(request, contentType);
  const text = (await readAll(request)).toString('utf8');
  if (contentType.startsWith('application/x-www-form-urlencoded'))
    return { json: undefined, files: [], fields: new URLSearchParams(text) };
  return { json: text === '' ? undefined : parseJson(text), files: [] };
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    size += bytes.byteLength;
    if (size > MAX_BYTES) throw discordError('tooLarge');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw discordError('badJson');
  }
}

async function readMultipart(request: IncomingMessage, contentType: string): Promise<RequestBody> {
  const parser = Busboy({
    headers: { ...request.headers, 'content-type': contentType },
    limits: { fileSize: MAX_BYTES, files: 20 },
  });
  const uploads: { field: string; file: UploadedFile }[] = [];
  const fields: Record<string, string> = {};
  let tooLarge = false;
  parser.on('file', (field, stream, filename, _encoding, mimeType) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('limit', () => {
      tooLarge = true;
    });
    stream.on('end', () => {
      uploads.push({
        field,
        file: { name: filename ?? 'unnamed', data: Buffer.concat(chunks), contentType: mimeType },
      });
    });
  });
  parser.on('field', (name, value) => {
    fields[name] = value;
  });
  await new Promise<void>((resolve, reject) => {
    parser.on('finish', resolve);
    parser.on('error', reject);
    request.pipe(parser);
  });
  if (tooLarge) throw discordError('tooLarge');
  const json = fields.payload_json === undefined ? fields : parseJson(fields.payload_json);
  return { json, files: uploads.map(({ field, file }) => describeUpload(field, file, json)) };
}

/** Adds the description in `attachments: [{ id: 0, filename, description }]` of the JSON to the upload `files[0]`. */
function describeUpload(field: string, file: UploadedFile, json: unknown): UploadedFile {
  const index = /^files\[(\d+)\]$/.exec(field)?.[1];
  if (index === undefined || typeof json !== 'object' || json === null || !('attachments' in json)) return file;
  if (!Array.isArray(json.attachments)) return file;
  const list: unknown[] = json.attachments;
  for (const entry of list) {
    if (typeof entry !== 'object' || entry === null || !('id' in entry) || String(entry.id) !== index) continue;
    return {
      ...file,
      ...('filename' in entry && typeof entry.filename === 'string' ? { name: entry.filename } : {}),
      ...('description' in entry && typeof entry.description === 'string' ? { description: entry.description } : {}),
    };
  }
  return file;
}

/** Checks a body against its schema. @throws 50035 with the errors at Discord's paths */
function parseForm<T>(schema: ZodType<T>, json: unknown): T {
  const result = schema.safeParse(json ?? {});
  if (result.success) return result.data;
  throw invalidForm(...result.error.issues.map(toFormIssue));
}

function toFormIssue(issue: $ZodIssue): FormIssue {
  const path = issue.path.map((key) => (typeof key === 'number' ? key : String(key)));
  return { path, ...complaint(issue) };
}

function complaint(issue: $ZodIssue): { code: string; message: string } {
  switch (issue.code) {
    case 'too_big':
      return issue.origin === 'number'
        ? { code: 'NUMBER_TYPE_MAX', message: `int value should be less than or equal to ${issue.maximum}.` }
        : { code: 'BASE_TYPE_MAX_LENGTH', message: `Must be ${issue.maximum} or fewer in length.` };
    case 'too_small':
      return issue.origin === 'number'
        ? { code: 'NUMBER_TYPE_MIN', message: `int value should be greater than or equal to ${issue.minimum}.` }
        : { code: 'BASE_TYPE_MIN_LENGTH', message: `Must be ${issue.minimum} or more in length.` };
    case 'invalid_type':
      return issue.input === undefined
        ? { code: 'BASE_TYPE_REQUIRED', message: 'This field is required' }
        : { code: 'BASE_TYPE_BAD_TYPE', message: issue.message };
    case 'invalid_format':
      return { code: 'STRING_TYPE_REGEX', message: 'String value did not match validation regex.' };
    case 'invalid_value':
      return { code: 'BASE_TYPE_CHOICES', message: `Value must be one of {${issue.values.map(String).join(', ')}}.` };
    case 'custom':
      return {
        code: typeof issue.params?.code === 'string' ? issue.params.code : 'BASE_TYPE_INVALID',
        message: issue.message,
      };
    default:
      return { code: 'BASE_TYPE_INVALID', message: issue.message };
  }
}

/** A whole number from the query string. @throws 50035 outside the range */
export function numberIn(query: URLSearchParams, name: string, min: number, max: number, fallback: number): number {
  const text = query.get(name);
  if (text === null) return fallback;
  const value = Number(text);
  if (!Number.isInteger(value)) {
    throw invalidForm({ path: [name], code: 'NUMBER_TYPE_COERCE', message: `Value "${text}" is not int.` });
  }
  if (value < min) {
    throw invalidForm({
      path: [name],
      code: 'NUMBER_TYPE_MIN',
      message: `int value should be greater than or equal to ${min}.`,
    });
  }
  if (value > max) {
    throw invalidForm({
      path: [name],
      code: 'NUMBER_TYPE_MAX',
      message: `int value should be less than or equal to ${max}.`,
    });
  }
  return value;
}
