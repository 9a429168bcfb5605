/**
 * The errors of the local Discord, with Discord's HTTP status, JSON error code and message. From
 * https://discord.com/developers/docs/topics/opcodes-and-status-codes#json
 */
const table = {
  unauthorized: [401, 0, '401: Unauthorized'],
  notFound: [404, 0, '404: Not Found'],
  unknownApplication: [404, 10002, 'Unknown Application'],
  unknownChannel: [404, 10003, 'Unknown Channel'],
  unknownGuild: [404, 10004, 'Unknown Guild'],
  unknownMember: [404, 10007, 'Unknown Member'],
  unknownMessage: [404, 10008, 'Unknown Message'],
  unknownOverwrite: [404, 10009, 'Unknown Permission Overwrite'],
  unknownRole: [404, 10011, 'Unknown Role'],
  unknownUser: [404, 10013, 'Unknown User'],
  unknownEmoji: [400, 10014, 'Unknown Emoji'],
  unknownWebhook: [404, 10015, 'Unknown Webhook'],
  unknownBan: [404, 10026, 'Unknown Ban'],
  unknownInvite: [404, 10006, 'Unknown Invite'],
  unknownAutoModRule: [404, 10066, 'Unknown auto moderation rule'],
  unknownInteraction: [404, 10062, 'Unknown interaction'],
  unknownCommand: [404, 10063, 'Unknown application command'],
  tooManyPins: [400, 30003, 'Maximum number of pinned messages in a channel reached (250)'],
  tooManyReactions: [400, 30010, 'Maximum number of reactions reached (20)'],
  tooManyWebhooks: [400, 30007, 'Maximum number of webhooks reached (15)'],
  tooManyCommands: [400, 30032, 'Maximum number of application commands reached (100)'],
  tooManyCommandCreates: [400, 30034, 'Max number of daily application command creates has been reached (200)'],
  tooLarge: [413, 40005, 'Request entity too large'],
  alreadyAcknowledged: [400, 40060, 'Interaction has already been acknowledged.'],
  missingAccess: [403, 50001, 'Missing Access'],
  wrongChannelTypeDm: [403, 50003, 'Cannot execute action on a DM channel'],
  emptyMessage: [400, 50006, 'Cannot send an empty message'],
  cannotDm: [403, 50007, 'Cannot send messages to this user'],
  notTextChannel: [400, 50008, 'Cannot send messages in a non-text channel'],
  notYourMessage: [403, 50005, 'Cannot edit a message authored by another user'],
  missingPermissions: [403, 50013, 'Missing Permissions'],
  bulkDeleteCount: [
    400,
    50016,
    'Provided too few or too many messages to delete. Must provide at least 2 and fewer than 100 messages to delete',
  ],
  systemMessage: [403, 50021, 'Cannot execute action on a system message'],
  wrongChannelType: [400, 50024, 'Cannot execute action on this channel type'],
  invalidWebhookToken: [401, 50027, 'Invalid Webhook Token'],
  invalidRole: [400, 50028, 'Invalid role'],
  tooOldToBulkDelete: [400, 50034, 'A message provided was too old to bulk delete'],
  invalidApiVersion: [400, 50041, 'Invalid API version provided'],
  threadArchived: [400, 50083, 'Thread is archived'],
  badJson: [400, 50109, 'The request body contains invalid JSON.'],
  reactionBlocked: [403, 90001, 'Reaction was blocked'],
  threadAlreadyExists: [400, 160004, 'A thread has already been created for this message'],
  cannotReply: [403, 160002, 'Cannot reply without permission to read message history'],
  threadLocked: [403, 160005, 'Thread is locked'],
  blockedByAutoMod: [400, 200000, 'Message was blocked by automatic moderation'],
  slowmode: [429, 20016, 'This action cannot be performed due to slowmode rate limit.'],
} as const satisfies Record<string, readonly [status: number, code: number, message: string]>;

type DiscordErrorName = keyof typeof table;

/** One error in a form: its path (`['embeds', 0, 'title']`), its code, and Discord's message. */
export interface FormIssue {
  path: readonly (string | number)[];
  code: string;
  message: string;
}

/** Nested like the form, with `_errors` at the place of an error. */
interface ErrorTree {
  [key: string]: ErrorTree | { code: string; message: string }[];
}

/** An error that the REST API returns and that the methods of users throw. */
export class LocalDiscordError extends Error {
  override readonly name = 'LocalDiscordError';
  readonly status: number;
  /** Discord's JSON error code, such as 50013. */
  readonly code: number;
  readonly errors: ErrorTree | undefined;

  constructor(status: number, code: number, message: string, errors?: ErrorTree) {
    super(message);
    this.status = status;
    this.code = code;
    this.errors = errors;
  }

  toJSON(): { message: string; code: number; errors?: ErrorTree } {
    return { message: this.message, code: this.code, ...(this.errors ? { errors: this.errors } : {}) };
  }
}

/** A sentence for people: Discord's "Invalid Form Body" does not name the invalid fields, so their errors are appended. */
export function refusalSentence(error: Error): string {
  const complaints = error instanceof LocalDiscordError ? complaintsIn(error.errors ?? {}) : [];
  return complaints.length > 0 ? complaints.join(' ') : error.message;
}

function complaintsIn(tree: ErrorTree): readonly string[] {
  return Object.values(tree).flatMap((branch) =>
    Array.isArray(branch) ? branch.map(({ message }) => message) : complaintsIn(branch),
  );
}

/** An error of OAuth2, in its separate format: https://datatracker.ietf.org/doc/html/rfc6749#section-5.2 */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  readonly status: number;
  readonly error: string;

  constructor(status: number, error: string, description = '') {
    super(description);
    this.status = status;
    this.error = error;
  }

  toJSON(): { error: string; error_description?: string } {
    return { error: this.error, ...(this.message === '' ? {} : { error_description: this.message }) };
  }
}

/** Creates the error with Discord's own status, code and message. */
export function discordError(name: DiscordErrorName): LocalDiscordError {
  const [status, code, message] = table[name];
  return new LocalDiscordError(status, code, message);
}

/** 50035 with Discord's error tree: `errors.content._errors[0].code === 'BASE_TYPE_MAX_LENGTH'`. */
export function invalidForm(...issues: FormIssue[]): LocalDiscordError {
  const tree: ErrorTree = {};
  for (const issue of issues) addToTree(tree, issue);
  return new LocalDiscordError(400, 50035, 'Invalid Form Body', tree);
}

function addToTree(tree: ErrorTree, issue: FormIssue): void {
  let node = tree;
  for (const key of issue.path) {
    const next = node[key];
    if (next && !Array.isArray(next)) node = next;
    else {
      const child: ErrorTree = {};
      node[key] = child;
      node = child;
    }
  }
  const complaint = { code: issue.code, message: issue.message };
  const present = node._errors;
  if (Array.isArray(present)) present.push(complaint);
  else node._errors = [complaint];
}
