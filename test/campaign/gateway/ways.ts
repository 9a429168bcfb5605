import type { LocalDiscord } from '@cinnabar/local-discord';
import type { Dice } from '../confirm/dice.js';
import type { NameServer } from './names.js';

/** Discord's interval. */
export const HEARTBEAT_MS = 41_250;

/** A way in which the gateway fails. */
export interface Way {
  readonly name: string;
  readonly begin: (discord: LocalDiscord, names: NameServer) => void;
  /** Called with each step of the outage. */
  readonly each?: (discord: LocalDiscord) => void;
  /** Whether Discord invalidates the session: it cannot be resumed. */
  readonly endsSession?: boolean;
  /**
   * Set when each attempt to connect succeeds, so that the schedule does not limit their number: the number of failures in an outage, in addition to those of
   * `each`.
   */
  readonly failures?: (outageMs: number) => number;
  /** Whether it can also occur during the bot's start. */
  readonly atStart?: boolean;
}

/** Close codes after which a session may be resumed; 1006 is a cut socket. */
const RESUMABLE = [1000, 1001, 1011, 1012, 1013, 4000, 4001, 4002, 4005, 4008] as const;
/** Close codes with which Discord also ends the session. */
const ENDING = [4003, 4007, 4009] as const;

const closing = (code: number, endsSession: boolean): Way => ({
  name: `closed at once with ${code}`,
  atStart: true,
  endsSession,
  begin({ faults }) {
    faults.gateway.closeOnConnect = { code, times: Number.POSITIVE_INFINITY };
    faults.gateway.dropSockets();
  },
});

/** All ways, with random close codes. */
export const waysToFail = (dice: Dice): readonly [Way, ...Way[]] => [
  {
    name: 'refused with 503',
    atStart: true,
    begin({ faults }) {
      faults.gateway.refuseConnections = Number.POSITIVE_INFINITY;
      faults.gateway.dropSockets();
    },
  },
  {
    name: 'refused by the machine',
    atStart: true,
    begin({ faults }, names) {
      names.resolution = 'elsewhere';
      faults.gateway.dropSockets();
    },
  },
  {
    name: 'cut before it is a WebSocket',
    atStart: true,
    begin({ faults }) {
      faults.gateway.cutConnections = Number.POSITIVE_INFINITY;
      faults.gateway.dropSockets();
    },
  },
  {
    name: 'accepted and never answered',
    atStart: true,
    begin({ faults }) {
      faults.gateway.hangConnections = Number.POSITIVE_INFINITY;
      faults.gateway.dropSockets();
    },
  },
  ...(['unknown', 'unanswered'] as const).map(
    (resolution): Way => ({
      name: `name ${resolution}`,
      atStart: true,
      begin({ faults }, names) {
        names.resolution = resolution;
        faults.gateway.dropSockets();
      },
    }),
  ),
  closing(dice.pick(RESUMABLE), false),
  closing(dice.pick(ENDING), true),
  {
    name: 'no HELLO',
    atStart: true,
    begin({ faults }) {
      faults.gateway.withholdHello = Number.POSITIVE_INFINITY;
      faults.gateway.dropSockets();
    },
  },
  {
    name: 'no READY or RESUMED',
    atStart: true,
    begin({ faults }) {
      faults.gateway.withholdReady = Number.POSITIVE_INFINITY;
      faults.gateway.dropSockets();
    },
  },
  {
    name: '503 of /gateway/bot and refused',
    atStart: true,
    begin({ faults }) {
      faults.rest.fail(503, { route: '/gateway/bot', times: Number.POSITIVE_INFINITY });
      faults.gateway.refuseConnections = Number.POSITIVE_INFINITY;
      faults.gateway.dropSockets();
    },
  },
  {
    name: 'sockets dropped every second',
    failures: () => 1,
    begin: ({ faults }) => faults.gateway.dropSockets(),
    each: ({ faults }) => faults.gateway.dropSockets(),
  },
  {
    name: 'sockets closed with 4000 every second',
    failures: () => 1,
    begin: ({ faults }) => faults.gateway.closeSockets(4000),
    each: ({ faults }) => faults.gateway.closeSockets(4000),
  },
  { name: 'asked to reconnect', failures: () => 1, begin: ({ faults }) => faults.gateway.requestReconnect() },
  {
    name: 'session invalid but resumable',
    failures: () => 1,
    begin: ({ faults }) => faults.gateway.invalidateSessions(true),
  },
  {
    name: 'session invalid',
    failures: () => 1,
    endsSession: true,
    begin: ({ faults }) => faults.gateway.invalidateSessions(false),
  },
  {
    name: 'RESUME refused',
    failures: () => 1,
    endsSession: true,
    begin({ faults }) {
      faults.gateway.refuseResume = true;
      faults.gateway.dropSockets();
    },
  },
  {
    name: 'heartbeats not acknowledged',
    failures: (outageMs) => Math.ceil(outageMs / HEARTBEAT_MS),
    begin({ faults }) {
      faults.gateway.muteHeartbeatAcks = true;
    },
  },
];
