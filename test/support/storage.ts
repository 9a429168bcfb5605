/** With CINNABAR_TEST_STORAGE=postgres, and where one can be started, the hosts of all tests keep their data in PostgreSQL. */
import { storeByDefault } from '@cinnabar/core/testing';
import { IN_POSTGRES } from './data.js';
import { databaseFor } from './postgres.js';

if (IN_POSTGRES) storeByDefault(databaseFor);
