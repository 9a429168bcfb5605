import type { ServiceObserver } from '../services.js';
import type { ChangeQueue } from './change-queue.js';
import { usersOf } from './dependents.js';
import type { LifecycleContext } from './room.js';
import { settle } from './settle.js';
import { stopWithDependents } from './stop.js';

/**
 * Follows services that plugins offer or withdraw while they run. What happens within a change of the lifecycle itself finds the
 * dependents stopped already, and is settled at its end.
 */
export function watchServices(room: LifecycleContext, queue: ChangeQueue): ServiceObserver {
  let settling = false;
  const settleSoon = () => {
    if (settling || queue.ended) return;
    settling = true;
    const change = async () => {
      settling = false;
      await settle(room);
    };
    queue.run(change).catch((error: unknown) => {
      if (!queue.ended) room.log.error('plugins could not be settled', { error });
    });
  };

  return {
    async withdraw(tokenId, remove) {
      if (usersOf(room, tokenId).length === 0) {
        remove();
        settleSoon();
        return;
      }
      await queue.run(async () => {
        for (let [user] = usersOf(room, tokenId); user !== undefined; [user] = usersOf(room, tokenId)) {
          await stopWithDependents(room, user);
        }
        remove();
        await settle(room);
      });
    },
    offered: settleSoon,
  };
}
