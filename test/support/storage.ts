/** With CINNABAR_TEST_STORAGE=postgres, and if one can be started, the hosts of all tests store their data in PostgreSQL. */
import { storeByDefault } from '@cinnabar/core/testing';
import { IN_POSTGRES } from './data.js';
import { databaseFor } from './postgres.js';

if (IN_POSTGRES) storeByDefault(databaseFor);
