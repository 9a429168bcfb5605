/**
 * The protocol between a browser and the local Discord at `/local/users`, as JSON. The browser sends acts, each with a unique number in `id`; each is answered
 * by `{ re, ok }` or `{ re, error }`. Between them come events, the first of which is the `snapshot`.
 */
import type {
  APIApplicationCommand,
  APIApplicationCommandOptionChoice,
  APIMessage,
  APIModalInteractionResponseCallbackData,
  ChannelType,
} from 'discord-api-types/v10';
import { z } from 'zod';

const id = z.string().regex(/^\d{1,20}$/, 'must be the id of something');
const name = z.string().min(1).max(200);
const base64 = z.base64();
const file = z.object({ name: z.string().min(1).max(260), data: base64, type: z.string().max(200).optional() });
const values = z.record(z.string(), z.union([z.string().max(6_000), z.number(), z.boolean(), file]));
const message = { channel: id, message: id };

/** All acts of a person. */
export const actSchema = z.discriminatedUnion('act', [
  /** Requests another snapshot. */
  z.object({ act: z.literal('snapshot') }),
  /** Keeps the connection alive. */
  z.object({ act: z.literal('ping') }),
  /** The latest messages of a channel, or those before one; 50 at a time. */
  z.object({ act: z.literal('messages'), channel: id, before: id.optional() }),
  z.object({
    act: z.literal('say'),
    channel: id,
    content: z.string().max(6_000),
    replyTo: id.optional(),
    files: z.array(file).max(10).optional(),
  }),
  z.object({ act: z.literal('edit'), ...message, content: z.string().max(6_000) }),
  z.object({ act: z.literal('delete'), ...message }),
  z.object({ act: z.literal('react'), ...message, emoji: name }),
  z.object({ act: z.literal('unreact'), ...message, emoji: name }),
  /** Presses the button with that custom id. */
  z.object({ act: z.literal('click'), ...message, button: name }),
  /** Chooses values, or ids of members, roles and channels, from the menu with that custom id. */
  z.object({ act: z.literal('select'), ...message, menu: name, values: z.array(z.string().max(200)).max(25) }),
  /** Submits a modal that answered one of the member's interactions; fields by their custom ids. */
  z.object({
    act: z.literal('submit'),
    interaction: id,
    fields: z.record(z.string(), z.union([z.string().max(6_000), z.array(z.string().max(200)).max(25)])),
  }),
  /** The slash commands that the member may use in a channel. */
  z.object({ act: z.literal('commands'), channel: id }),
  z.object({ act: z.literal('slash'), channel: id, command: name, options: values }),
  z.object({
    act: z.literal('autocomplete'),
    channel: id,
    command: name,
    focused: name,
    typed: z.string().max(6_000),
    options: values,
  }),
  z.object({ act: z.literal('typing'), channel: id }),
  /** Marks the channel as read up to a message. */
  z.object({ act: z.literal('ack'), ...message }),
  z.object({ act: z.literal('openDm'), user: id }),
  z.object({ act: z.literal('startThread'), ...message, name: z.string().min(1).max(100) }),
  /** Moves the clock forward, if this was enabled when the local Discord was started. */
  z.object({
    act: z.literal('advance'),
    ms: z
      .number()
      .int()
      .min(1)
      .max(366 * 86_400_000),
  }),
]);

/** An act without its number, which identifies the response. */
export type UserAct = z.infer<typeof actSchema>;
export const requestSchema = z.object({ id: z.number().int().min(0) });

export interface SeenPerson {
  id: string;
  name: string;
  bot: boolean;
}

export interface SeenChannel {
  id: string;
  name: string;
  type: ChannelType;
  topic: string | null;
  parentId: string | null;
  position: number;
  /** Whether the member may write in the channel. */
  writable: boolean;
  /** Whether the member may delete other members' messages in the channel. */
  moderated: boolean;
  unread: number;
}

export interface SeenRole {
  id: string;
  name: string;
  /** As 0xRRGGBB; 0 for none. */
  color: number;
  position: number;
}

export interface SeenGuild {
  id: string;
  name: string;
  /** Channels, including threads. */
  channels: SeenChannel[];
  members: { id: string; name: string; roles: string[] }[];
  roles: SeenRole[];
}

/** Everything that a member may see, except the messages. */
export interface Snapshot {
  me: SeenPerson;
  now: number;
  /** All users that the member can see. */
  people: SeenPerson[];
  guilds: SeenGuild[];
  dms: (SeenChannel & { with: string })[];
  canMoveClock: boolean;
}

export type UserEvent =
  | ({ event: 'snapshot' } & Snapshot)
  /** A new or edited message, or one with changed reactions. */
  | { event: 'message'; message: APIMessage; isNew: boolean; now: number }
  | { event: 'messageDelete'; channel: string; message: string; unread: number }
  /** The member has read the channel in another window. */
  | { event: 'ack'; channel: string; unread: number }
  | { event: 'typing'; channel: string; user: string }
  /** The state of one of the member's interactions. */
  | {
      event: 'interaction';
      interaction: string;
      state: 'deferred' | 'answered';
      modal?: APIModalInteractionResponseCallbackData;
    }
  | { event: 'clock'; now: number };

/** The response to each act. */
interface ActResults {
  snapshot: Snapshot;
  ping: { now: number };
  messages: { messages: APIMessage[]; more: boolean };
  commands: { commands: APIApplicationCommand[] };
  slash: { interaction: string };
  click: { interaction: string };
  select: { interaction: string };
  submit: { interaction: string };
  autocomplete: { choices: APIApplicationCommandOptionChoice[] };
  openDm: { channel: string };
  startThread: { channel: string };
}

export type ActResult<A extends UserAct['act']> = A extends keyof ActResults ? ActResults[A] : Record<string, never>;

export type UserReply = { re: number; ok: object } | { re: number | null; error: string };

/** Why the local Discord closes a connection: reconnecting with the same address does not help. */
export const REFUSED = { key: 4001, member: 4004 } as const;
