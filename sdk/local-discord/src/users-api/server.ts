import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { refusalSentence } from '../errors.js';
import type { Observers } from '../expect-message.js';
import { canView } from '../rules/permissions.js';
import type { LocalChannel } from '../state/channels.js';
import type { LocalEvent } from '../state/events.js';
import type { LocalInteraction } from '../state/interactions.js';
import type { LocalUser } from '../state/users.js';
import type { World } from '../world.js';
import { carryOut } from './acts.js';
import { actSchema, REFUSED, requestSchema, type Snapshot, type UserEvent, type UserReply } from './protocol.js';
import { isVisible, type ReadMarks, seenMessage, snapshotFor, unread } from './view.js';

/** Less than ten files of Discord's 10 MiB: files for trying a bot are smaller. */
const MAX_BYTES = 24 * 1024 * 1024;

export interface UsersApiOptions {
  /** The key that a browser needs to connect; default: random. */
  key?: string;
  /** Other origins whose pages may connect, such as `http://127.0.0.1:8080`; the server's own origin always may. */
  origins?: readonly string[];
  /** Moves the clock forward. Without it, the clock cannot be moved. */
  advance?: (ms: number) => Promise<void>;
}

interface UsersApi {
  readonly key: string;
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): void;
}

interface Connection {
  readonly user: LocalUser;
  readonly socket: WebSocket;
  /** Whether a snapshot is about to be sent. */
  isStale: boolean;
}

/** Lets pages in a browser act as members: `/local/users?key=…&as=MEMBER`. See `protocol.ts`. */
export function createUsersApi(
  world: World,
  observers: Observers,
  ownOrigin: () => string,
  options: UsersApiOptions,
): UsersApi {
  const key = options.key ?? randomBytes(18).toString('base64url');
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_BYTES, perMessageDeflate: false });
  const connections = new Set<Connection>();
  const marks: ReadMarks = new Map();
  const stop = observers.observe((event) => {
    for (const connection of connections) tell(world, connection, event, marks, options.advance !== undefined);
  });
  const advance = options.advance;
  const move =
    advance &&
    (async (ms: number) => {
      await advance(ms);
      for (const connection of connections) send(connection, { event: 'clock', now: world.clock.now() });
    });

  const accept = (socket: WebSocket, url: URL) => {
    socket.on('error', () => socket.terminate());
    if (!isSame(url.searchParams.get('key') ?? '', key)) {
      socket.close(REFUSED.key, 'The key is wrong.');
      return;
    }
    const user = world.users.get(url.searchParams.get('as') ?? '');
    if (user === undefined || user.bot) {
      socket.close(REFUSED.member, 'There is no such member.');
      return;
    }
    const connection: Connection = { user, socket, isStale: false };
    connections.add(connection);
    socket.on('close', () => connections.delete(connection));
    socket.on('message', (data) => {
      const onRead = (channel: LocalChannel) => {
        const read: UserEvent = { event: 'ack', channel: channel.id, unread: unread(channel, user, marks) };
        for (const other of connections) if (other.user === user && other !== connection) send(other, read);
      };
      void answer({ world, user, marks, advance: move, onRead }, data).then((reply) => send(connection, reply));
    });
    send(connection, { event: 'snapshot', ...snapshotFor(world, user, marks, advance !== undefined) });
  };

  return {
    key,
    handleUpgrade: (request, socket, head) => {
      const { origin } = request.headers;
      if (origin === undefined || !(origin === ownOrigin() || options.origins?.includes(origin))) {
        socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
        return;
      }
      const url = new URL(request.url ?? '/', 'http://localhost');
      server.handleUpgrade(request, socket, head, (client) => accept(client, url));
    },
    close: () => {
      stop();
      for (const { socket } of connections) socket.terminate();
      server.close();
    },
  };
}

function isSame(given: string, key: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(key)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function send({ socket }: Connection, what: UserEvent | UserReply): void {
  if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(what));
}

/** Every message gets a response with a sentence. */
async function answer(context: Parameters<typeof carryOut>[0], data: RawData): Promise<UserReply> {
  let json: unknown;
  try {
    json = JSON.parse(String(data));
  } catch {
    return { re: null, error: 'That is not JSON.' };
  }
  const request = requestSchema.safeParse(json);
  if (!request.success) return { re: null, error: 'An act needs a whole number as its "id".' };
  const { id: re } = request.data;
  const act = actSchema.safeParse(json, { error: ({ input }) => (input === undefined ? 'is missing' : undefined) });
  if (!act.success) {
    const [issue] = act.error.issues;
    return { re, error: `${issue?.path.join('.') || 'act'}: ${issue?.message ?? 'is not understood'}` };
  }
  try {
    return { re, ok: await carryOut(context, act.data) };
  } catch (error) {
    return { re, error: error instanceof Error ? refusalSentence(error) : String(error) };
  }
}

/** Several changes at the same time, as when thousands of members join, cause one snapshot. */
function announce(connection: Connection, snapshot: () => Snapshot): void {
  if (connection.isStale) return;
  connection.isStale = true;
  setImmediate(() => {
    connection.isStale = false;
    if (connection.socket.readyState === connection.socket.OPEN) send(connection, { event: 'snapshot', ...snapshot() });
  });
}

/** Sends an event to a connection whose member may see it. */
function tell(world: World, connection: Connection, event: LocalEvent, marks: ReadMarks, canMoveClock: boolean): void {
  const { user } = connection;
  const now = world.clock.now();
  switch (event.type) {
    case 'messageCreate':
    case 'messageEdit':
    case 'reactionAdd':
    case 'reactionRemove':
    case 'reactionsClear':
    case 'pin':
    case 'unpin': {
      const { message } = event;
      if (!isVisible(world, user, message)) return;
      const isNew = event.type === 'messageCreate';
      send(connection, { event: 'message', message: seenMessage(message, user), isNew, now });
      return;
    }
    case 'messageDelete': {
      const { message } = event;
      if (!isVisible(world, user, message)) return;
      const left = unread(message.channel, user, marks);
      send(connection, { event: 'messageDelete', channel: message.channel.id, message: message.id, unread: left });
      return;
    }
    case 'typing':
      if (event.user !== user && canView(event.channel, user, now))
        send(connection, { event: 'typing', channel: event.channel.id, user: event.user.id });
      return;
    case 'interactionDefer':
    case 'interactionAnswer':
      tellInteraction(world, connection, event.type, event.interaction);
      return;
    case 'channelCreate':
    case 'channelEdit':
    case 'channelDelete':
    case 'roleCreate':
    case 'roleEdit':
    case 'roleDelete':
    case 'memberJoin':
    case 'memberLeave':
    case 'memberEdit':
      announce(connection, () => snapshotFor(world, user, marks, canMoveClock));
      return;
    default:
      return;
  }
}

function tellInteraction(
  world: World,
  connection: Connection,
  type: LocalEvent['type'],
  interaction: LocalInteraction,
): void {
  const { user } = connection;
  const { response, modal } = interaction;
  const deferred = type === 'interactionDefer';
  if (deferred && response && isVisible(world, user, response))
    send(connection, { event: 'message', message: seenMessage(response, user), isNew: true, now: world.clock.now() });
  if (interaction.user !== user) return;
  const state = deferred ? ('deferred' as const) : ('answered' as const);
  send(connection, { event: 'interaction', interaction: interaction.id, state, ...(modal && { modal }) });
}
