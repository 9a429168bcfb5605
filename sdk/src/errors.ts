import { t, translated } from './text/language.js';

/** The readers of an error's message: members, or only those who run the bot. */
export type ErrorAudience = 'member' | 'operator';

/** A kind of error with a code: its sentence, and who may read it. */
export interface CodedError {
  readonly audience: ErrorAudience;
  readonly sentence: string;
  /** The sentence for members about an operator's error; without it, only that something went wrong. */
  readonly memberSentence: string | undefined;
  /** Parameters whose values the reader, or the model on their behalf, has written: they are repeated unchanged. */
  readonly echoes: readonly string[];
}

/**
 * Every error the host can raise has a code, one sentence, and who may read it: an operator's error names documents, paths, addresses or variables, or
 * something that only an author can fix. `ERRORS.md` beside this package documents each; a test keeps both equal.
 */
export const ERRORS = {
  CINNABAR_CONFIG_INVALID: forOperators('The configuration is wrong: {detail}'),
  CINNABAR_DATA_IN_USE: forOperators(
    'The data in {folder} is in use by {holder}. Stop that one first, or choose other data with CINNABAR_DATA or --bot.',
  ),
  CINNABAR_CLUSTER_NO_ANSWER: forMembers(
    'The process of this bot that handles this did not answer in time, so I do not know whether it was done. Please check, and try again in a minute.',
  ),
  CINNABAR_CLUSTER_NOT_SERVED: forMembers(
    'The process of this bot that handles this does not answer at the moment, so nothing was done. Please try again in a minute.',
  ),
  CINNABAR_LEASE_LOST: forMembers('These servers are served by another process now.'),
  CINNABAR_DATA_UNUSABLE: forOperators('The data in {folder} cannot be used: {detail}. {remedy}'),
  CINNABAR_PLUGIN_INVALID: forOperators('The plugin at {place} cannot be used: {detail}'),
  CINNABAR_PLUGIN_UNKNOWN: forMembers('There is no plugin called "{plugin}".{hint}', ['plugin', 'hint']),
  CINNABAR_PLUGIN_BUILD: forOperators('The plugin "{plugin}" does not build: {detail}'),
  CINNABAR_PLUGIN_DEPENDENCY: forOperators(
    'The plugin "{plugin}" imports "{package}", which is not installed: run "npm install {package}" in {folder}',
  ),
  CINNABAR_PLUGIN_SETUP: forOperators('The plugin "{plugin}" failed to start: {detail}'),
  CINNABAR_PLUGIN_TIMEOUT: forOperators('The plugin "{plugin}" took longer than {seconds} s to {step}.'),
  CINNABAR_PLUGIN_HOST_VERSION: forOperators('The plugin "{plugin}" needs host {wanted}, but this is {actual}.'),
  CINNABAR_PLUGIN_DUPLICATE: forOperators('Two plugins are called "{plugin}": {first} and {second}.'),
  CINNABAR_PLUGIN_STATE: forMembers('The plugin "{plugin}" is {state}.'),
  CINNABAR_PLUGIN_RELOAD: forOperators('The plugin "{plugin}" was not reloaded. {detail} Still running {version}.'),
  CINNABAR_PLUGIN_REQUIRED: forMembers('The plugin "{plugin}" cannot be switched off: {detail}'),
  CINNABAR_DEPENDENCY_MISSING: forOperators('The plugin "{plugin}" needs {token}, which no loaded plugin provides.'),
  CINNABAR_DEPENDENCY_CIRCULAR: forOperators('These plugins wait for one another: {cycle}.'),
  CINNABAR_TOKEN_UNDECLARED: forOperators('The plugin "{plugin}" provides {token} without declaring it in `provides`.'),
  CINNABAR_TOKEN_TAKEN: forOperators('{token} is already provided by the plugin "{plugin}".'),
  CINNABAR_SCOPE_CLOSED: forOperators('The plugin "{plugin}" tried to register {label} after it was stopped.'),
  CINNABAR_DISPOSE_TIMEOUT: forOperators('Cleaning up {label} took longer than {seconds} s.'),
  CINNABAR_NAME_TAKEN: forMembers('The {kind} "{name}" is already registered by the plugin "{plugin}".'),
  CINNABAR_NAME_INVALID: forMembers('The {kind} name "{name}" is not allowed: {detail}'),
  CINNABAR_SETTING_UNKNOWN: forMembers('The plugin "{plugin}" has no setting "{key}".{hint}', [
    'plugin',
    'key',
    'hint',
  ]),
  CINNABAR_SETTING_INVALID: forMembers('The value for "{key}" is not right: {detail}', ['key', 'detail']),
  CINNABAR_SETTING_CHANGED: forMembers('The setting "{key}" has been changed meanwhile, so nothing was done.'),
  CINNABAR_DOCUMENT_INVALID: forOperators('The stored document {document} is not valid: {detail}'),
  CINNABAR_DOCUMENT_MISSING: forOperators('There is no document {document}.'),
  CINNABAR_DOCUMENT_NEWER: forOperators(
    'The document {document} was written by a newer version ({found}) than this one understands ({known}).',
  ),
  CINNABAR_DOCUMENT_NESTED: forOperators('The document {document} was changed again from inside its own change.'),
  CINNABAR_STORAGE_WRITE: forOperators(
    '{document} cannot be saved: {detail}.',
    'I cannot save anything at the moment.',
  ),
  CINNABAR_STORAGE_READ: forOperators(
    '{document} cannot be read: {detail}.',
    'I cannot read what I have stored at the moment.',
  ),
  CINNABAR_ACCESS_DENIED: forMembers('You may not do that: {reasons}'),
  CINNABAR_IGNORED: forMembers('I do not answer you here: {reasons}'),
  CINNABAR_OPTION_INVALID: forMembers('{detail}', ['detail']),
  CINNABAR_COOLDOWN: forMembers('Please wait {wait} before using this again.'),
  CINNABAR_TOOL_UNKNOWN: forMembers('There is no tool called "{tool}".', ['tool']),
  CINNABAR_TOOL_ARGUMENTS: forMembers('The arguments for {tool} are not right: {detail}', ['detail']),
  CINNABAR_TOOL_DENIED: forMembers('The tool {tool} may not be used: {reasons}'),
  CINNABAR_TOOL_FAILED: forMembers('The tool {tool} failed: {detail}'),
  CINNABAR_TOOL_GUARD_DOWN: forMembers(
    'Nothing can be run at the moment: the plugin "{plugin}", which guards tools here, is not running.',
  ),
  CINNABAR_TOOL_UNKNOWN_OUTCOME: forMembers(
    'It is unknown whether {tool} has run: the bot stopped while it was running. It is not repeated automatically.',
  ),
  CINNABAR_TOOL_KEY: forMembers('The call {tool} cannot be made under this key: {detail}'),
  CINNABAR_TOOL_STATE: forMembers('The call {call} is already {state}.'),
  CINNABAR_LLM_NOT_CONFIGURED: forOperators(
    'No language model is configured: {detail}',
    'No language model is set up for this at the moment. The bot’s owner can see why.',
  ),
  CINNABAR_LLM_REFUSED: forOperators(
    'The language model refused the request: {detail}',
    'The language model did not accept the request. The bot’s owner can see why.',
  ),
  CINNABAR_LLM_RATE_LIMITED: forMembers('The language model is busy; please try again in a moment.'),
  CINNABAR_LLM_UNAVAILABLE: forMembers('The language model cannot be reached at the moment.'),
  CINNABAR_LLM_PAUSED: forMembers(
    'The language model has failed several times in a row, so it is not asked for a while; please try again in {seconds} s.',
  ),
  CINNABAR_LLM_TIMEOUT: forMembers('The language model took longer than {seconds} s.'),
  CINNABAR_LLM_CANCELLED: forMembers('The request to the language model was cancelled.'),
  CINNABAR_LLM_MALFORMED: forOperators(
    'The language model answered in a form that cannot be used: {detail}',
    'The language model answered in a form that cannot be used.',
  ),
  CINNABAR_LLM_UNSUPPORTED: forMembers('The model "{model}" cannot do this: {detail}'),
  CINNABAR_RESPONDER_UNKNOWN: forMembers(
    '"{name}", which is chosen to answer here, is switched off or not installed. An admin can choose another with `ai use`, or switch it on with `plugin enable`.',
    ['name'],
  ),
  CINNABAR_PAGE_UNKNOWN: forMembers('There is no such page here, or it is not for you.'),
  CINNABAR_RESPONDER_UPDATING: forMembers('"{name}" is being updated. Please ask again in a moment.'),
  CINNABAR_TURN_WITHDRAWN: forMembers('The question was deleted, so it is not answered.'),
  CINNABAR_TURN_STOPPED: forMembers('The answer was stopped.'),
  CINNABAR_INTERRUPTED: forMembers(
    'This was interrupted, because I am being stopped or updated. Please check what came of it, then ask again.',
  ),
  CINNABAR_GATEWAY_LOGIN: forOperators('Discord did not accept the login: {detail}'),
  CINNABAR_GATEWAY_CLOSED: forOperators(
    'Discord closed the connection with code {code} and allows no new one: {detail}',
  ),
  CINNABAR_WORKER_TIMEOUT: forMembers('Processing this took longer than {seconds} s, so it was stopped.'),
  CINNABAR_WORKER_MEMORY: forMembers('Processing this took more memory than is allowed, so it was stopped.'),
  CINNABAR_WORKER_BUSY: forMembers('Too much is waiting to be processed at the moment; please try again later.'),
  CINNABAR_WORKER_FAILED: forMembers('This could not be processed.'),
  CINNABAR_COMMAND_CAP: forOperators(
    'Discord allows {cap} {kind} commands; {count} are declared. Left out of the slash menu: {names}.',
  ),
} as const;

export type ErrorCode = keyof typeof ERRORS;
export type ErrorParams = Readonly<Record<string, string | number>>;

/** An error with a stable `code`. Its `message` is the reason, for the log; `sentenceOf` returns what a member may read. */
export class CinnabarError extends Error {
  readonly code: ErrorCode;
  readonly params: ErrorParams;

  constructor(code: ErrorCode, params: ErrorParams = {}, options?: ErrorOptions) {
    super(fillTemplate(ERRORS[code].sentence, params), options);
    this.name = 'CinnabarError';
    this.code = code;
    this.params = params;
  }
}

/**
 * Thrown by a plugin to tell the member something in plain words: the message is shown unchanged, nothing is logged as a failure.
 * @example throw new UserError('The party is empty.');
 */
export class UserError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UserError';
  }
}

/**
 * Thrown by a plugin when the reason is for those who run the bot (an address, a variable, a file), and members read a plainer sentence.
 * @example throw new OperatorError('LETTA_BASE_URL is not an address.', 'The agents are not set up on this bot.');
 */
export class OperatorError extends Error {
  /** For members. */
  readonly sentence: string;

  constructor(reason: string, sentence: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'OperatorError';
    this.sentence = sentence;
  }
}

/**
 * The sentence that a member may read of any thrown value, or `undefined` when there is no specific one.
 * @param reference to the log entry with the reason; shown when the reason is not for members
 */
export function sentenceOf(error: unknown, reference?: string): string | undefined {
  const sentence = memberSentenceOf(error);
  return sentence === undefined || reference === undefined || !isForOperators(error)
    ? sentence
    : withReference(sentence, reference);
}

function memberSentenceOf(error: unknown): string | undefined {
  if (error instanceof UserError) return error.message;
  if (error instanceof OperatorError) return error.sentence;
  if (!(error instanceof CinnabarError)) return undefined;
  const { audience, sentence, memberSentence, echoes } = ERRORS[error.code];
  const template = audience === 'member' ? sentence : memberSentence;
  return template && fillTemplate(translated(template), withoutInternals(error.params, echoes));
}

/** Whether the sentence for members hides the reason: then the reason has to be logged, under a reference. */
export function isForOperators(error: unknown): boolean {
  if (error instanceof CinnabarError) return ERRORS[error.code].audience === 'operator';
  return !(error instanceof UserError);
}

/** The reason for operators, in the current language; `undefined` for errors of other origin. For the log, use `message`. */
export function operatorSentenceOf(error: unknown): string | undefined {
  if (error instanceof CinnabarError) return fillTemplate(translated(ERRORS[error.code].sentence), error.params);
  return error instanceof UserError || error instanceof OperatorError ? error.message : undefined;
}

/** The sentence for a member when the reason is in the log: with the reference by which the operator finds it. */
export function withReference(sentence: string, reference: string): string {
  return t('{sentence} It has been logged (reference `{reference}`).', { sentence, reference });
}

function forMembers(sentence: string, echoes: readonly string[] = []): CodedError {
  return { audience: 'member', sentence, memberSentence: undefined, echoes };
}

function forOperators(sentence: string, memberSentence?: string): CodedError {
  return { audience: 'operator', sentence, memberSentence, echoes: [] };
}

/** Parts of a text that only an operator may read: addresses with scheme, port or number, paths and documents, variables. */
const INTERNALS: readonly RegExp[] = [
  /\b[a-z][a-z\d+.-]*:\/\//i,
  /\b\d{1,3}(?:\.\d{1,3}){3}\b/,
  /\blocalhost\b/i,
  /\b[a-z][\w.-]*:\d{2,5}\b/i,
  /(?<![\w<])(?:~|\.{1,2})?\/[\w.@-]+\/[\w.@-]/,
  /\b[a-z]:\\/i,
  /[\w.@-]+(?:\/[\w.@-]+){2,}/,
  /[\w-]\.(?:ya?ml|json|[cm]?[jt]s|env)\b/i,
  /\b[A-Z][A-Z\d]*(?:_[A-Z\d]+)+\b/,
];

/** The parameters without values that members may not read, whatever the code that threw the error has put into them. */
function withoutInternals(params: ErrorParams, echoes: readonly string[]): ErrorParams {
  const isInternal = (value: string | number) => INTERNALS.some((pattern) => pattern.test(String(value)));
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      !echoes.includes(name) && isInternal(value) ? t('the bot’s owner can see the reason') : value,
    ]),
  );
}

function fillTemplate(template: string, params: ErrorParams): string {
  return template.replace(/\{(\w+)\}/g, (slot, name: string) => String(params[name] ?? slot));
}
