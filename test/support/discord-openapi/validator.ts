import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { RestExchange } from '@cinnabar/local-discord';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { z } from 'zod';
import { corrections, undescribed } from './corrections.js';

/** The parts of an OpenAPI description outside of schemas, which ajv reads. */
const content = z.looseObject({ 'application/json': z.unknown().optional() });
const operation = z.looseObject({
  parameters: z.array(z.looseObject({ name: z.string(), in: z.string() })).optional(),
  requestBody: z.looseObject({ content, required: z.boolean().optional() }).optional(),
  responses: z.record(z.string(), z.looseObject({ content: content.optional(), $ref: z.string().optional() })),
});
const description = z.looseObject({
  paths: z.record(
    z.string(),
    z.looseObject({
      get: operation.optional(),
      post: operation.optional(),
      put: operation.optional(),
      patch: operation.optional(),
      delete: operation.optional(),
    }),
  ),
  components: z.looseObject({
    schemas: z.record(z.string(), z.looseObject({})),
    responses: z.record(z.string(), z.looseObject({ content: content.optional() })),
  }),
});

export type Description = z.infer<typeof description>;
type Operation = z.infer<typeof operation>;

/** A part of an exchange that violates the description. */
interface Violation {
  /** The operation, like `POST /channels/:channelId/messages`. */
  readonly operation: string;
  /** `request` or `response 200`. */
  readonly part: string;
  /** The problem, like `/components/0: must have required property 'id'`. */
  readonly problem: string;
}

export interface OpenApiValidator {
  /** Compares one exchange with the description; each schema is compiled on first use. */
  check(exchange: RestExchange): Violation[];
}

const FILE = new URL('../../../support/discord-openapi/discord-openapi.json.gz', import.meta.url);
/** The description's id in ajv. */
const ID = 'discord-openapi';
/** Number of characters from which remembering a request is cheaper than comparing it again. */
const LONG = 2_000;
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Discord's own description of its REST API, with our corrections. */
function readDescription(): Description {
  const read = description.parse(JSON.parse(gunzipSync(readFileSync(FILE)).toString('utf8')));
  for (const { correct } of corrections) correct(read);
  return read;
}

/** Compares exchanges with a description: the operation, its query parameters, the request's body, the status and the response's body. */
export function createOpenApiValidator(described: Description = readDescription()): OpenApiValidator {
  const operations = new Map<string, { at: string; operation: Operation }>();
  for (const [path, item] of Object.entries(described.paths)) {
    for (const method of METHODS) {
      const found = item[method];
      if (found)
        operations.set(operationKey(method, path), { at: `${pointer('paths', path)}/${method}`, operation: found });
    }
  }
  // Inlined and optimized code takes three times as long to compile, which is most of the validation's time.
  const ajv = new Ajv2020({ strict: false, validateSchema: false, inlineRefs: false, code: { optimize: false } });
  for (const name of ['date-time', 'uri', 'int32', 'int64', 'double'] as const) ajv.addFormat(name, fullFormats[name]);
  for (const name of ['snowflake', 'nonce']) ajv.addFormat(name, true);
  ajv.addSchema(described, ID);
  const compiled = new Map<string, ValidateFunction>();
  /** Long requests without a problem: the hosts of a process send the same commands again and again. */
  const accepted = new Set<string>();
  const problemOf = (at: string, body: unknown): string | undefined => {
    let validate = compiled.get(at);
    if (validate === undefined) {
      validate = ajv.compile({ $ref: `${ID}#${at}` });
      compiled.set(at, validate);
    }
    return validate(body) ? undefined : describe(validate.errors ?? [], body);
  };

  function requestProblems(at: string, { parameters = [], requestBody }: Operation, exchange: RestExchange): string[] {
    const known = new Set(parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name));
    const problems = exchange.query.filter((name) => !known.has(name)).map((name) => `unknown query parameter ${name}`);
    const { requestBody: body } = exchange;
    if (body === undefined) return requestBody?.required === true ? [...problems, 'has no body'] : problems;
    if (requestBody?.content['application/json'] === undefined) return [...problems, 'has a body'];
    const text = `${at} ${JSON.stringify(body)}`;
    if (accepted.has(text)) return problems;
    const problem = problemOf(`${at}/requestBody/content/application~1json/schema`, body);
    if (problem !== undefined) return [...problems, problem];
    if (text.length > LONG) accepted.add(text);
    return problems;
  }

  function responseProblem(at: string, { responses }: Operation, status: number, body: unknown): string | undefined {
    const name = responses[status] === undefined && status >= 400 && status < 500 ? '4XX' : String(status);
    const answer = responses[name];
    if (answer === undefined) return 'the status is not described';
    const place = answer.$ref?.slice(1) ?? `${at}/responses/${name}`;
    const shape =
      answer.$ref === undefined ? answer : described.components.responses[answer.$ref.split('/').at(-1) ?? ''];
    const hasBody = shape?.content?.['application/json'] !== undefined;
    if (body === undefined) return hasBody ? 'has no body' : undefined;
    return hasBody ? problemOf(`${place}/content/application~1json/schema`, body) : 'has a body';
  }

  return {
    check(exchange) {
      const { method, route, response } = exchange;
      const name = `${method} ${route}`;
      const found = operations.get(operationKey(method, route));
      if (!found && undescribed.has(name)) return [];
      if (!found) return [{ operation: name, part: 'request', problem: 'no such operation' }];
      const violations: Violation[] = [];
      // The body of a request that was refused as malformed may violate its schema.
      if (response?.status !== 400) {
        for (const problem of requestProblems(found.at, found.operation, exchange)) {
          violations.push({ operation: name, part: 'request', problem });
        }
      }
      if (response !== undefined) {
        const problem = responseProblem(found.at, found.operation, response.status, response.body);
        if (problem !== undefined) violations.push({ operation: name, part: `response ${response.status}`, problem });
      }
      return violations;
    },
  };
}

/** Equal for `/channels/:channelId` and `/channels/{channel_id}`. */
function operationKey(method: string, path: string): string {
  return `${method.toLowerCase()} ${path.replace(/:[^/]+|\{[^}]+\}/g, '*')}`;
}

/** A JSON pointer in the form of a URL fragment. */
function pointer(...keys: string[]): string {
  return keys.map((key) => `/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('');
}

/** For a value with several alternatives, reports the errors of the closest one. */
function describe(errors: readonly ErrorObject[], body: unknown): string {
  const depth = Math.max(...errors.map(({ instancePath }) => instancePath.split('/').length));
  const furthest = errors.filter(({ instancePath }) => instancePath.split('/').length === depth);
  const told = new Set(furthest.map(({ instancePath, message }) => `${instancePath || '/'} ${message ?? 'is wrong'}`));
  return `${[...told].join('; ')} in ${JSON.stringify(body)?.slice(0, 400)}`;
}
