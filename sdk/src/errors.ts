/**
 * Every error the host can raise has a code and one sentence for people. `ERRORS.md` beside this package documents each;
 * a test keeps the two the same.
 */
export const ERRORS = {
  CINNABAR_CONFIG_INVALID: 'The configuration is wrong: {detail}',
  CINNABAR_DATA_IN_USE:
    'The data in {folder} is in use by {holder}. Stop that one first, or choose other data with CINNABAR_DATA or --bot.',
  CINNABAR_DATA_UNUSABLE: 'The data in {folder} cannot be used: {detail}. {remedy}',
  CINNABAR_PLUGIN_INVALID: 'The plugin at {place} cannot be used: {detail}',
  CINNABAR_PLUGIN_UNKNOWN: 'There is no plugin called "{plugin}".',
  CINNABAR_PLUGIN_BUILD: 'The plugin "{plugin}" does not build: {detail}',
  CINNABAR_PLUGIN_SETUP: 'The plugin "{plugin}" failed to start: {detail}',
  CINNABAR_PLUGIN_TIMEOUT: 'The plugin "{plugin}" took longer than {seconds} s to {step}.',
  CINNABAR_PLUGIN_HOST_VERSION: 'The plugin "{plugin}" needs host {wanted}, but this is {actual}.',
  CINNABAR_PLUGIN_DUPLICATE: 'Two plugins are called "{plugin}": {first} and {second}.',
  CINNABAR_PLUGIN_STATE: 'The plugin "{plugin}" is {state}.',
  CINNABAR_PLUGIN_RELOAD: 'The plugin "{plugin}" was not reloaded. {detail} Still running {version}.',
  CINNABAR_PLUGIN_REQUIRED: 'The plugin "{plugin}" cannot be switched off: {detail}',
  CINNABAR_DEPENDENCY_MISSING: 'The plugin "{plugin}" needs {token}, which no loaded plugin provides.',
  CINNABAR_DEPENDENCY_CIRCULAR: 'These plugins wait for one another: {cycle}.',
  CINNABAR_TOKEN_UNDECLARED: 'The plugin "{plugin}" provides {token} without declaring it in `provides`.',
  CINNABAR_TOKEN_TAKEN: '{token} is already provided by the plugin "{plugin}".',
  CINNABAR_SCOPE_CLOSED: 'The plugin "{plugin}" tried to register {label} after it was stopped.',
  CINNABAR_DISPOSE_TIMEOUT: 'Cleaning up {label} took longer than {seconds} s.',
  CINNABAR_NAME_TAKEN: 'The {kind} "{name}" is already registered by the plugin "{plugin}".',
  CINNABAR_NAME_INVALID: 'The {kind} name "{name}" is not allowed: {detail}',
  CINNABAR_SETTING_UNKNOWN: 'The plugin "{plugin}" has no setting "{key}".{hint}',
  CINNABAR_SETTING_INVALID: 'The value for "{key}" is not right: {detail}',
  CINNABAR_DOCUMENT_INVALID: 'The stored document {document} is not valid: {detail}',
  CINNABAR_DOCUMENT_MISSING: 'There is no document {document}.',
  CINNABAR_DOCUMENT_NEWER:
    'The document {document} was written by a newer version ({found}) than this one understands ({known}).',
  CINNABAR_DOCUMENT_NESTED: 'The document {document} was changed again from inside its own change.',
  CINNABAR_STORAGE_WRITE: 'I cannot save anything at the moment.',
  CINNABAR_STORAGE_READ: 'I cannot read what I have stored at the moment.',
  CINNABAR_ACCESS_DENIED: 'You may not do that: {reasons}',
  CINNABAR_OPTION_INVALID: '{detail}',
  CINNABAR_COOLDOWN: 'Please wait {seconds} s before using this again.',
  CINNABAR_TOOL_UNKNOWN: 'There is no tool called "{tool}".',
  CINNABAR_TOOL_ARGUMENTS: 'The arguments for {tool} are not right: {detail}',
  CINNABAR_TOOL_DENIED: 'The tool {tool} may not be used: {reasons}',
  CINNABAR_TOOL_FAILED: 'The tool {tool} failed: {detail}',
  CINNABAR_TOOL_GUARD_DOWN:
    'Nothing can be run at the moment: the plugin "{plugin}", which guards tools here, is not running.',
  CINNABAR_TOOL_UNKNOWN_OUTCOME:
    'Nobody knows whether {tool} has run: the bot stopped in the middle of it. It is not repeated by itself.',
  CINNABAR_TOOL_KEY: 'The call {tool} cannot be made under this key: {detail}',
  CINNABAR_TOOL_STATE: 'The call {call} is already {state}.',
  CINNABAR_LLM_NOT_CONFIGURED: 'No language model is configured: {detail}',
  CINNABAR_LLM_REFUSED: 'The language model refused the request: {detail}',
  CINNABAR_LLM_RATE_LIMITED: 'The language model is busy; please try again in a moment.',
  CINNABAR_LLM_UNAVAILABLE: 'The language model cannot be reached at the moment.',
  CINNABAR_LLM_PAUSED:
    'The language model has failed several times in a row and is given a rest; please try again in {seconds} s.',
  CINNABAR_LLM_TIMEOUT: 'The language model took longer than {seconds} s.',
  CINNABAR_LLM_CANCELLED: 'The request to the language model was cancelled.',
  CINNABAR_LLM_MALFORMED: 'The language model answered in a form that cannot be used: {detail}',
  CINNABAR_LLM_UNSUPPORTED: 'The model "{model}" cannot do this: {detail}',
  CINNABAR_RESPONDER_UNKNOWN: 'There is no responder called "{name}" here.',
  CINNABAR_RESPONDER_UPDATING: '"{name}" is being updated. Please ask again in a moment.',
  CINNABAR_TURN_WITHDRAWN: 'The question was deleted, so it is not answered.',
  CINNABAR_TURN_STOPPED: 'The answer was stopped.',
  CINNABAR_INTERRUPTED:
    'This was interrupted, because I am being stopped or updated. Please check what came of it, then ask again.',
  CINNABAR_GATEWAY_LOGIN: 'Discord did not accept the login: {detail}',
  CINNABAR_GATEWAY_CLOSED: 'Discord closed the connection with code {code} and admits no other: {detail}',
  CINNABAR_WORKER_TIMEOUT: 'This took longer than {seconds} s to work through, so it was stopped.',
  CINNABAR_WORKER_MEMORY: 'Working through this took more memory than is allowed, so it was stopped.',
  CINNABAR_WORKER_BUSY: 'Too much is waiting to be worked through at the moment; please try again later.',
  CINNABAR_WORKER_FAILED: 'This could not be worked through.',
  CINNABAR_COMMAND_CAP:
    'Discord allows {cap} {kind} commands; {count} are declared. Left out of the slash menu: {names}.',
} as const;

export type ErrorCode = keyof typeof ERRORS;
export type ErrorParams = Readonly<Record<string, string | number>>;

/** An error with a stable `code` and a `message` that may be shown to people. */
export class CinnabarError extends Error {
  readonly code: ErrorCode;
  readonly params: ErrorParams;

  constructor(code: ErrorCode, params: ErrorParams = {}, options?: ErrorOptions) {
    super(fillTemplate(ERRORS[code], params), options);
    this.name = 'CinnabarError';
    this.code = code;
    this.params = params;
  }
}

/**
 * What a plugin throws to tell the member something in plain words: the message is shown as it is, nothing is logged as a failure.
 * @example throw new UserError('The party is empty.');
 */
export class UserError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UserError';
  }
}

/** Their messages name what members have no business with, or what only an author can put right. */
const INTERNAL: ReadonlySet<ErrorCode> = new Set([
  'CINNABAR_DOCUMENT_INVALID',
  'CINNABAR_DOCUMENT_MISSING',
  'CINNABAR_DOCUMENT_NEWER',
  'CINNABAR_DOCUMENT_NESTED',
  'CINNABAR_DATA_UNUSABLE',
]);

/** What members read where the message names addresses, variables or files, which are the owner's business. */
const FOR_MEMBERS: ReadonlyMap<ErrorCode, string> = new Map([
  ['CINNABAR_LLM_NOT_CONFIGURED', 'No language model is set up for this at the moment. The bot’s owner can see why.'],
  ['CINNABAR_LLM_REFUSED', 'The language model did not accept the request. The bot’s owner can see why.'],
]);

/** The sentence to show a person for any thrown value, or `undefined` when it must not be shown (an internal failure). */
export function sentenceOf(error: unknown): string | undefined {
  if (error instanceof UserError) return error.message;
  if (!(error instanceof CinnabarError) || INTERNAL.has(error.code)) return undefined;
  return FOR_MEMBERS.get(error.code) ?? error.message;
}

/** The sentence for those who run the bot: with the document and the reason that members are spared. */
export function operatorSentenceOf(error: unknown): string | undefined {
  if (error instanceof UserError) return error.message;
  if (!(error instanceof CinnabarError)) return undefined;
  const { code, message, params } = error;
  if (code !== 'CINNABAR_STORAGE_WRITE' && code !== 'CINNABAR_STORAGE_READ') return message;
  return `${message} ${params.document}: ${params.detail}.`;
}

function fillTemplate(template: string, params: ErrorParams): string {
  return template.replace(/\{(\w+)\}/g, (slot, name: string) => String(params[name] ?? slot));
}
