import {
  Access,
  AuditLog,
  Clock,
  Commands,
  Configuration,
  Files,
  Identities,
  Ledger,
  MessageOrigins,
  OwnerNotices,
  PersonalDataStore,
  Plugins,
  Prefixes,
  Provenance,
  Random,
  Redaction,
  Responders,
  SettingsCatalog,
  type Token,
  ToolPolicies,
  Tools,
} from '@cinnabar/sdk';
import type { DependencyContainer } from 'tsyringe';
import { KEYS } from './keys.js';

/** Passes to plugins, under the SDK's tokens, what the host itself provides. Looked up when a plugin starts, not before. */
export function provideHostServices(container: DependencyContainer): void {
  const provide = <T>(token: Token<T>, find: () => T) => container.register<T>(token.id, { useFactory: find });

  provide(Clock, () => container.resolve(KEYS.clock));
  provide(Random, () => container.resolve(KEYS.random));
  provide(Configuration, () => container.resolve(KEYS.configuration));
  provide(Identities, () => container.resolve(KEYS.identities));
  provide(Access, () => container.resolve(KEYS.access));
  provide(Provenance, () => container.resolve(KEYS.provenance));
  provide(Commands, () => container.resolve(KEYS.commands));
  provide(Responders, () => container.resolve(KEYS.responders));
  provide(Tools, () => container.resolve(KEYS.tools));
  provide(Ledger, () => container.resolve(KEYS.tools).ledger);
  provide(MessageOrigins, () => container.resolve(KEYS.messageOrigins));
  provide(ToolPolicies, () => container.resolve(KEYS.toolPolicies));
  provide(SettingsCatalog, () => container.resolve(KEYS.storage).catalog);
  provide(OwnerNotices, () => container.resolve(KEYS.notices));
  provide(Files, () => container.resolve(KEYS.files));
  provide(PersonalDataStore, () => container.resolve(KEYS.personalData));
  provide(Plugins, () => container.resolve(KEYS.plugins));
  provide(AuditLog, () => container.resolve(KEYS.audit));
  provide(Redaction, () => container.resolve(KEYS.logs).redactor);
  provide(Prefixes, () => container.resolve(KEYS.prefixes));
}
