BEGIN TRANSACTION;
CREATE TABLE "account_emailaddress" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "verified" bool NOT NULL, "primary" bool NOT NULL, "user_id" bigint NOT NULL REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED, "email" varchar(254) NOT NULL);
CREATE TABLE "account_emailconfirmation" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "created" datetime NOT NULL, "sent" datetime NULL, "key" varchar(64) NOT NULL UNIQUE, "email_address_id" integer NOT NULL REFERENCES "account_emailaddress" ("id") DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE "accounts_apitoken" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(100) NOT NULL, "prefix" varchar(8) NOT NULL, "digest" varchar(64) NOT NULL UNIQUE, "scopes" text NOT NULL CHECK ((JSON_VALID("scopes") OR "scopes" IS NULL)), "created" datetime NOT NULL, "last_used" datetime NULL, "expires" datetime NULL, "revoked" bool NOT NULL, "user_id" bigint NOT NULL REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "accounts_apitoken" VALUES(1,'χ² 17','del_a 18','model_b 19','{"number": 20, "list": [1.5, null, "\u00e9"]}','2026-11-01 12:21:00','2026-11-01 12:22:00','2026-11-01 12:23:00',0,1);
INSERT INTO "accounts_apitoken" VALUES(2,'résumé 25','words 26','χ² 27','{"number": 28, "list": [1.5, null, "\u00e9"]}','2026-11-01 12:29:00','2026-11-01 12:30:00','2026-11-01 12:31:00',1,2);
CREATE TABLE "accounts_shared_cache" ("cache_key" varchar(255) NOT NULL PRIMARY KEY, "value" text NOT NULL, "expires" datetime NOT NULL);
INSERT INTO "accounts_shared_cache" VALUES('IT-rdm 33','Text 34: Anna Ünsal
','2026-11-01 12:35:00');
INSERT INTO "accounts_shared_cache" VALUES('two words 36','Text 37: χ²
','2026-11-01 12:38:00');
CREATE TABLE "accounts_user" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "password" varchar(128) NOT NULL, "last_login" datetime NULL, "is_superuser" bool NOT NULL, "email" varchar(254) NOT NULL UNIQUE, "display_name" varchar(100) NOT NULL, "is_active" bool NOT NULL, "is_staff" bool NOT NULL, "date_joined" datetime NOT NULL);
INSERT INTO "accounts_user" VALUES(1,'alexnet 1','2026-11-01 12:02:00',0,'member0.4@example.org','résumé 5',0,0,'2026-11-01 12:08:00');
INSERT INTO "accounts_user" VALUES(2,'model_b 9','2026-11-01 12:10:00',1,'member1.12@example.org','IT-rdm 13',1,1,'2026-11-01 12:16:00');
CREATE TABLE "accounts_user_groups" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "user_id" bigint NOT NULL REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED, "group_id" integer NOT NULL REFERENCES "auth_group" ("id") DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE "accounts_user_user_permissions" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "user_id" bigint NOT NULL REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED, "permission_id" integer NOT NULL REFERENCES "auth_permission" ("id") DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE "auth_group" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(150) NOT NULL UNIQUE);
INSERT INTO "auth_group" VALUES(1,'reviewers');
CREATE TABLE "auth_group_permissions" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "group_id" integer NOT NULL REFERENCES "auth_group" ("id") DEFERRABLE INITIALLY DEFERRED, "permission_id" integer NOT NULL REFERENCES "auth_permission" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "auth_group_permissions" VALUES(1,1,25);
CREATE TABLE "auth_permission" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "content_type_id" integer NOT NULL REFERENCES "django_content_type" ("id") DEFERRABLE INITIALLY DEFERRED, "codename" varchar(100) NOT NULL, "name" varchar(255) NOT NULL);
INSERT INTO "auth_permission" VALUES(1,1,'add_logentry','Can add log entry');
INSERT INTO "auth_permission" VALUES(2,1,'change_logentry','Can change log entry');
INSERT INTO "auth_permission" VALUES(3,1,'delete_logentry','Can delete log entry');
INSERT INTO "auth_permission" VALUES(4,1,'view_logentry','Can view log entry');
INSERT INTO "auth_permission" VALUES(5,2,'add_permission','Can add permission');
INSERT INTO "auth_permission" VALUES(6,2,'change_permission','Can change permission');
INSERT INTO "auth_permission" VALUES(7,2,'delete_permission','Can delete permission');
INSERT INTO "auth_permission" VALUES(8,2,'view_permission','Can view permission');
INSERT INTO "auth_permission" VALUES(9,3,'add_group','Can add group');
INSERT INTO "auth_permission" VALUES(10,3,'change_group','Can change group');
INSERT INTO "auth_permission" VALUES(11,3,'delete_group','Can delete group');
INSERT INTO "auth_permission" VALUES(12,3,'view_group','Can view group');
INSERT INTO "auth_permission" VALUES(13,4,'add_contenttype','Can add content type');
INSERT INTO "auth_permission" VALUES(14,4,'change_contenttype','Can change content type');
INSERT INTO "auth_permission" VALUES(15,4,'delete_contenttype','Can delete content type');
INSERT INTO "auth_permission" VALUES(16,4,'view_contenttype','Can view content type');
INSERT INTO "auth_permission" VALUES(17,5,'add_session','Can add session');
INSERT INTO "auth_permission" VALUES(18,5,'change_session','Can change session');
INSERT INTO "auth_permission" VALUES(19,5,'delete_session','Can delete session');
INSERT INTO "auth_permission" VALUES(20,5,'view_session','Can view session');
INSERT INTO "auth_permission" VALUES(21,6,'add_user','Can add user');
INSERT INTO "auth_permission" VALUES(22,6,'change_user','Can change user');
INSERT INTO "auth_permission" VALUES(23,6,'delete_user','Can delete user');
INSERT INTO "auth_permission" VALUES(24,6,'view_user','Can view user');
INSERT INTO "auth_permission" VALUES(25,6,'review_submissions','Can review submissions');
INSERT INTO "auth_permission" VALUES(26,7,'add_apitoken','Can add api token');
INSERT INTO "auth_permission" VALUES(27,7,'change_apitoken','Can change api token');
INSERT INTO "auth_permission" VALUES(28,7,'delete_apitoken','Can delete api token');
INSERT INTO "auth_permission" VALUES(29,7,'view_apitoken','Can view api token');
INSERT INTO "auth_permission" VALUES(30,8,'add_sharedcacherow','Can add shared cache row');
INSERT INTO "auth_permission" VALUES(31,8,'change_sharedcacherow','Can change shared cache row');
INSERT INTO "auth_permission" VALUES(32,8,'delete_sharedcacherow','Can delete shared cache row');
INSERT INTO "auth_permission" VALUES(33,8,'view_sharedcacherow','Can view shared cache row');
INSERT INTO "auth_permission" VALUES(34,9,'add_revision','Can add revision');
INSERT INTO "auth_permission" VALUES(35,9,'change_revision','Can change revision');
INSERT INTO "auth_permission" VALUES(36,9,'delete_revision','Can delete revision');
INSERT INTO "auth_permission" VALUES(37,9,'view_revision','Can view revision');
INSERT INTO "auth_permission" VALUES(38,10,'add_benchmark','Can add benchmark');
INSERT INTO "auth_permission" VALUES(39,10,'change_benchmark','Can change benchmark');
INSERT INTO "auth_permission" VALUES(40,10,'delete_benchmark','Can delete benchmark');
INSERT INTO "auth_permission" VALUES(41,10,'view_benchmark','Can view benchmark');
INSERT INTO "auth_permission" VALUES(42,11,'add_ingestion','Can add ingestion');
INSERT INTO "auth_permission" VALUES(43,11,'change_ingestion','Can change ingestion');
INSERT INTO "auth_permission" VALUES(44,11,'delete_ingestion','Can delete ingestion');
INSERT INTO "auth_permission" VALUES(45,11,'view_ingestion','Can view ingestion');
INSERT INTO "auth_permission" VALUES(46,12,'add_stimulussample','Can add stimulus sample');
INSERT INTO "auth_permission" VALUES(47,12,'change_stimulussample','Can change stimulus sample');
INSERT INTO "auth_permission" VALUES(48,12,'delete_stimulussample','Can delete stimulus sample');
INSERT INTO "auth_permission" VALUES(49,12,'view_stimulussample','Can view stimulus sample');
INSERT INTO "auth_permission" VALUES(50,13,'add_visionmodel','Can add model');
INSERT INTO "auth_permission" VALUES(51,13,'change_visionmodel','Can change model');
INSERT INTO "auth_permission" VALUES(52,13,'delete_visionmodel','Can delete model');
INSERT INTO "auth_permission" VALUES(53,13,'view_visionmodel','Can view model');
INSERT INTO "auth_permission" VALUES(54,13,'view_private','Can see private models and withheld data');
INSERT INTO "auth_permission" VALUES(55,14,'add_benchmarkversion','Can add benchmark version');
INSERT INTO "auth_permission" VALUES(56,14,'change_benchmarkversion','Can change benchmark version');
INSERT INTO "auth_permission" VALUES(57,14,'delete_benchmarkversion','Can delete benchmark version');
INSERT INTO "auth_permission" VALUES(58,14,'view_benchmarkversion','Can view benchmark version');
INSERT INTO "auth_permission" VALUES(59,15,'add_score','Can add score');
INSERT INTO "auth_permission" VALUES(60,15,'change_score','Can change score');
INSERT INTO "auth_permission" VALUES(61,15,'delete_score','Can delete score');
INSERT INTO "auth_permission" VALUES(62,15,'view_score','Can view score');
INSERT INTO "auth_permission" VALUES(63,16,'add_layerprofile','Can add layer profile');
INSERT INTO "auth_permission" VALUES(64,16,'change_layerprofile','Can change layer profile');
INSERT INTO "auth_permission" VALUES(65,16,'delete_layerprofile','Can delete layer profile');
INSERT INTO "auth_permission" VALUES(66,16,'view_layerprofile','Can view layer profile');
INSERT INTO "auth_permission" VALUES(67,17,'add_competition','Can add competition');
INSERT INTO "auth_permission" VALUES(68,17,'change_competition','Can change competition');
INSERT INTO "auth_permission" VALUES(69,17,'delete_competition','Can delete competition');
INSERT INTO "auth_permission" VALUES(70,17,'view_competition','Can view competition');
INSERT INTO "auth_permission" VALUES(71,17,'manage','Can organise competitions');
INSERT INTO "auth_permission" VALUES(72,18,'add_milestone','Can add milestone');
INSERT INTO "auth_permission" VALUES(73,18,'change_milestone','Can change milestone');
INSERT INTO "auth_permission" VALUES(74,18,'delete_milestone','Can delete milestone');
INSERT INTO "auth_permission" VALUES(75,18,'view_milestone','Can view milestone');
INSERT INTO "auth_permission" VALUES(76,19,'add_person','Can add person');
INSERT INTO "auth_permission" VALUES(77,19,'change_person','Can change person');
INSERT INTO "auth_permission" VALUES(78,19,'delete_person','Can delete person');
INSERT INTO "auth_permission" VALUES(79,19,'view_person','Can view person');
INSERT INTO "auth_permission" VALUES(80,20,'add_programmeitem','Can add programme item');
INSERT INTO "auth_permission" VALUES(81,20,'change_programmeitem','Can change programme item');
INSERT INTO "auth_permission" VALUES(82,20,'delete_programmeitem','Can delete programme item');
INSERT INTO "auth_permission" VALUES(83,20,'view_programmeitem','Can view programme item');
INSERT INTO "auth_permission" VALUES(84,21,'add_question','Can add question');
INSERT INTO "auth_permission" VALUES(85,21,'change_question','Can change question');
INSERT INTO "auth_permission" VALUES(86,21,'delete_question','Can delete question');
INSERT INTO "auth_permission" VALUES(87,21,'view_question','Can view question');
INSERT INTO "auth_permission" VALUES(88,22,'add_snapshot','Can add snapshot');
INSERT INTO "auth_permission" VALUES(89,22,'change_snapshot','Can change snapshot');
INSERT INTO "auth_permission" VALUES(90,22,'delete_snapshot','Can delete snapshot');
INSERT INTO "auth_permission" VALUES(91,22,'view_snapshot','Can view snapshot');
INSERT INTO "auth_permission" VALUES(92,23,'add_track','Can add track');
INSERT INTO "auth_permission" VALUES(93,23,'change_track','Can change track');
INSERT INTO "auth_permission" VALUES(94,23,'delete_track','Can delete track');
INSERT INTO "auth_permission" VALUES(95,23,'view_track','Can view track');
INSERT INTO "auth_permission" VALUES(96,24,'add_entry','Can add entry');
INSERT INTO "auth_permission" VALUES(97,24,'change_entry','Can change entry');
INSERT INTO "auth_permission" VALUES(98,24,'delete_entry','Can delete entry');
INSERT INTO "auth_permission" VALUES(99,24,'view_entry','Can view entry');
INSERT INTO "auth_permission" VALUES(100,25,'add_award','Can add award');
INSERT INTO "auth_permission" VALUES(101,25,'change_award','Can change award');
INSERT INTO "auth_permission" VALUES(102,25,'delete_award','Can delete award');
INSERT INTO "auth_permission" VALUES(103,25,'view_award','Can view award');
INSERT INTO "auth_permission" VALUES(104,26,'add_page','Can add page');
INSERT INTO "auth_permission" VALUES(105,26,'change_page','Can change page');
INSERT INTO "auth_permission" VALUES(106,26,'delete_page','Can delete page');
INSERT INTO "auth_permission" VALUES(107,26,'view_page','Can view page');
INSERT INTO "auth_permission" VALUES(108,27,'add_news','Can add news');
INSERT INTO "auth_permission" VALUES(109,27,'change_news','Can change news');
INSERT INTO "auth_permission" VALUES(110,27,'delete_news','Can delete news');
INSERT INTO "auth_permission" VALUES(111,27,'view_news','Can view news');
INSERT INTO "auth_permission" VALUES(112,28,'add_upload','Can add upload');
INSERT INTO "auth_permission" VALUES(113,28,'change_upload','Can change upload');
INSERT INTO "auth_permission" VALUES(114,28,'delete_upload','Can delete upload');
INSERT INTO "auth_permission" VALUES(115,28,'view_upload','Can view upload');
INSERT INTO "auth_permission" VALUES(116,29,'add_uploadedfile','Can add uploaded file');
INSERT INTO "auth_permission" VALUES(117,29,'change_uploadedfile','Can change uploaded file');
INSERT INTO "auth_permission" VALUES(118,29,'delete_uploadedfile','Can delete uploaded file');
INSERT INTO "auth_permission" VALUES(119,29,'view_uploadedfile','Can view uploaded file');
INSERT INTO "auth_permission" VALUES(120,30,'add_revision','Can add revision');
INSERT INTO "auth_permission" VALUES(121,30,'change_revision','Can change revision');
INSERT INTO "auth_permission" VALUES(122,30,'delete_revision','Can delete revision');
INSERT INTO "auth_permission" VALUES(123,30,'view_revision','Can view revision');
INSERT INTO "auth_permission" VALUES(124,31,'add_review','Can add review');
INSERT INTO "auth_permission" VALUES(125,31,'change_review','Can change review');
INSERT INTO "auth_permission" VALUES(126,31,'delete_review','Can delete review');
INSERT INTO "auth_permission" VALUES(127,31,'view_review','Can view review');
INSERT INTO "auth_permission" VALUES(128,32,'add_comment','Can add comment');
INSERT INTO "auth_permission" VALUES(129,32,'change_comment','Can change comment');
INSERT INTO "auth_permission" VALUES(130,32,'delete_comment','Can delete comment');
INSERT INTO "auth_permission" VALUES(131,32,'view_comment','Can view comment');
INSERT INTO "auth_permission" VALUES(132,33,'add_submission','Can add submission');
INSERT INTO "auth_permission" VALUES(133,33,'change_submission','Can change submission');
INSERT INTO "auth_permission" VALUES(134,33,'delete_submission','Can delete submission');
INSERT INTO "auth_permission" VALUES(135,33,'view_submission','Can view submission');
INSERT INTO "auth_permission" VALUES(136,34,'add_letter','Can add letter');
INSERT INTO "auth_permission" VALUES(137,34,'change_letter','Can change letter');
INSERT INTO "auth_permission" VALUES(138,34,'delete_letter','Can delete letter');
INSERT INTO "auth_permission" VALUES(139,34,'view_letter','Can view letter');
INSERT INTO "auth_permission" VALUES(140,35,'add_plugin','Can add plugin');
INSERT INTO "auth_permission" VALUES(141,35,'change_plugin','Can change plugin');
INSERT INTO "auth_permission" VALUES(142,35,'delete_plugin','Can delete plugin');
INSERT INTO "auth_permission" VALUES(143,35,'view_plugin','Can view plugin');
INSERT INTO "auth_permission" VALUES(144,36,'add_step','Can add step');
INSERT INTO "auth_permission" VALUES(145,36,'change_step','Can change step');
INSERT INTO "auth_permission" VALUES(146,36,'delete_step','Can delete step');
INSERT INTO "auth_permission" VALUES(147,36,'view_step','Can view step');
INSERT INTO "auth_permission" VALUES(148,37,'add_job','Can add job');
INSERT INTO "auth_permission" VALUES(149,37,'change_job','Can change job');
INSERT INTO "auth_permission" VALUES(150,37,'delete_job','Can delete job');
INSERT INTO "auth_permission" VALUES(151,37,'view_job','Can view job');
INSERT INTO "auth_permission" VALUES(152,38,'add_beat','Can add beat');
INSERT INTO "auth_permission" VALUES(153,38,'change_beat','Can change beat');
INSERT INTO "auth_permission" VALUES(154,38,'delete_beat','Can delete beat');
INSERT INTO "auth_permission" VALUES(155,38,'view_beat','Can view beat');
INSERT INTO "auth_permission" VALUES(156,39,'add_dbtaskresult','Can add Task Result');
INSERT INTO "auth_permission" VALUES(157,39,'change_dbtaskresult','Can change Task Result');
INSERT INTO "auth_permission" VALUES(158,39,'delete_dbtaskresult','Can delete Task Result');
INSERT INTO "auth_permission" VALUES(159,39,'view_dbtaskresult','Can view Task Result');
INSERT INTO "auth_permission" VALUES(160,40,'add_emailaddress','Can add email address');
INSERT INTO "auth_permission" VALUES(161,40,'change_emailaddress','Can change email address');
INSERT INTO "auth_permission" VALUES(162,40,'delete_emailaddress','Can delete email address');
INSERT INTO "auth_permission" VALUES(163,40,'view_emailaddress','Can view email address');
INSERT INTO "auth_permission" VALUES(164,41,'add_emailconfirmation','Can add email confirmation');
INSERT INTO "auth_permission" VALUES(165,41,'change_emailconfirmation','Can change email confirmation');
INSERT INTO "auth_permission" VALUES(166,41,'delete_emailconfirmation','Can delete email confirmation');
INSERT INTO "auth_permission" VALUES(167,41,'view_emailconfirmation','Can view email confirmation');
INSERT INTO "auth_permission" VALUES(168,42,'add_authenticator','Can add authenticator');
INSERT INTO "auth_permission" VALUES(169,42,'change_authenticator','Can change authenticator');
INSERT INTO "auth_permission" VALUES(170,42,'delete_authenticator','Can delete authenticator');
INSERT INTO "auth_permission" VALUES(171,42,'view_authenticator','Can view authenticator');
CREATE TABLE "competitions_award" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "order" integer NOT NULL, "place" integer unsigned NULL CHECK ("place" >= 0), "title" varchar(300) NOT NULL, "people" varchar(500) NOT NULL, "prize" varchar(100) NOT NULL, "track_id" bigint NOT NULL REFERENCES "competitions_track" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "competitions_award" VALUES(1,1,1,'effnetb1_cutmixpatch_augmix_robust32_avge4e7_manylayers_324x288','','',1);
INSERT INTO "competitions_award" VALUES(2,2,NULL,'grcnn_robust_v1','','',1);
INSERT INTO "competitions_award" VALUES(3,3,NULL,'custom_model_cv_18_dagger_408','','',1);
INSERT INTO "competitions_award" VALUES(4,1,1,'Do Neural Networks Care How Parts are Arranged?','Nick Baker, James Elder','$3,000',4);
INSERT INTO "competitions_award" VALUES(5,2,2,'Brain-Score on Dotted Line Drawings and Textured Silhouettes','Marin Dujmović, Gaurav Malhotra, Jeff Bowers','$2,000',4);
INSERT INTO "competitions_award" VALUES(6,1,1,'Strong amodal completion of occluded objects across early and high-level visual cortices','David Coggan','$3,000',5);
INSERT INTO "competitions_award" VALUES(7,2,2,'The Animate Space of Inanimate Perception','Andrea Ivan Costantino','$2,000',5);
INSERT INTO "competitions_award" VALUES(8,337,338,'model_b 339','gabor 340','alexnet 341',6);
INSERT INTO "competitions_award" VALUES(9,342,343,'Anna Ünsal 344','résumé 345','two words 346',7);
CREATE TABLE "competitions_award_entries" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "award_id" bigint NOT NULL REFERENCES "competitions_award" ("id") DEFERRABLE INITIALLY DEFERRED, "entry_id" bigint NOT NULL REFERENCES "competitions_entry" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "competitions_award_entries" VALUES(1,1,1);
INSERT INTO "competitions_award_entries" VALUES(2,2,2);
INSERT INTO "competitions_award_entries" VALUES(3,3,3);
INSERT INTO "competitions_award_entries" VALUES(4,4,4);
INSERT INTO "competitions_award_entries" VALUES(5,4,5);
INSERT INTO "competitions_award_entries" VALUES(6,4,6);
INSERT INTO "competitions_award_entries" VALUES(7,5,7);
INSERT INTO "competitions_award_entries" VALUES(8,5,8);
INSERT INTO "competitions_award_entries" VALUES(9,5,9);
INSERT INTO "competitions_award_entries" VALUES(10,5,10);
INSERT INTO "competitions_award_entries" VALUES(11,6,11);
INSERT INTO "competitions_award_entries" VALUES(12,6,12);
INSERT INTO "competitions_award_entries" VALUES(13,6,13);
INSERT INTO "competitions_award_entries" VALUES(14,6,14);
INSERT INTO "competitions_award_entries" VALUES(15,7,15);
INSERT INTO "competitions_award_entries" VALUES(16,8,16);
INSERT INTO "competitions_award_entries" VALUES(17,9,17);
CREATE TABLE "competitions_competition" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "slug" varchar(50) NOT NULL UNIQUE, "year" integer NOT NULL, "title" varchar(200) NOT NULL, "summary" text NOT NULL, "about" text NOT NULL, "place" varchar(300) NOT NULL, "critiques_answered" text NOT NULL, "contact" text NOT NULL, "unknown" text NOT NULL, "currency" varchar(5) NOT NULL, "pool" decimal NULL, "published" bool NOT NULL, "awarded" datetime NULL, "created" datetime NOT NULL);
INSERT INTO "competitions_competition" VALUES(1,'2022',2022,'Brain-Score Competition 2022','Modellers were asked for models of vision that predict the benchmarks there were: overall, of V1, of behavior.','The first Brain-Score competition was one of models, which were evaluated on the existing benchmarks. It brought new models, better at these than those before.','','','','The documents at hand tell the benchmarks, and which models came out first. They tell neither dates, prizes, organisers, nor who the teams were and what else was entered, nor which of the other two models was second. Standings are computed from the scores of this site, as a plain mean in which each benchmark counts alike.','$',NULL,1,'2022-12-31 00:00:00','2026-11-22 23:56:00.821096');
INSERT INTO "competitions_competition" VALUES(2,'2024',2024,'Brain-Score Competition 2024','Experimentalists were asked for benchmarks that show where current models of vision fail. In each track those with the lowest score won, averaged over eleven models.','In 2022 models competed on the benchmarks there were. In 2024 the sides changed: whoever doubts that today''s models
explain primate vision was asked to say so with a benchmark. Those won whose benchmarks the models did worst on, with
$10,000 to share.

## What could be entered

Benchmarks of core object recognition, behavioral or neural, with data of one''s own or data and metrics that are there,
put together anew. A benchmark treats a model as it would another subject, and asks it only for what it can do:

- one of three tasks: labels of ImageNet, probabilities of labels, the odd one out;
- recordings (spike rates) from V1, V2, V4 or IT;
- static images, no videos;
- no course over time, though the one time bin may be chosen.

Further behavioral tasks could be suggested until April 2024.

## How

With an account here, by sending a ZIP ([tutorial](/tutorials/submissions/)). New data were hosted by their authors, or
uploaded.

## Workshop

Authors of chosen entries presented their benchmarks at a workshop of the CCN conference.
','Conference on Cognitive Computational Neuroscience (CCN), MIT, Cambridge, MA','The competition of 2024 was itself an answer: critics were invited to turn what they object to into benchmarks, in the
spirit of an adversarial collaboration, so that it shows where models and brains differ.
','Slack workspace and Twitter account of Brain-Score.','Not in the documents at hand: what else was entered, when, the scores and means of then, sponsors, and the questions that were often asked. Standings are computed from the scores of this site. Of a team with several benchmarks the best counts here; “as close as possible to 0” is read so that a score below 0 counts as 0.','$',10000,1,'2024-08-06 00:00:00','2026-11-22 23:56:00.853649');
INSERT INTO "competitions_competition" VALUES(3,'χ² 217',218,'model_b 219','Text 220: gabor
','Text 221: alexnet
','V1-pls 222','Text 223: IT-rdm
','Text 224: Anna Ünsal
','Text 225: résumé
','s 226',1227,0,'2026-11-01 12:49:03','2026-11-01 12:50:03');
INSERT INTO "competitions_competition" VALUES(4,'alexnet 231',232,'IT-rdm 233','Text 234: Anna Ünsal
','Text 235: résumé
','two words 236','Text 237: χ²
','Text 238: model_a
','Text 239: model_b
','r 240',1241,1,'2026-11-01 12:03:04','2026-11-01 12:04:04');
CREATE TABLE "competitions_entry" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "team" varchar(200) NOT NULL, "title" varchar(300) NOT NULL, "identifier" varchar(200) NOT NULL, "known" bool NOT NULL, "entered" datetime NULL, "declared" text NOT NULL CHECK ((JSON_VALID("declared") OR "declared" IS NULL)), "findings" text NOT NULL CHECK ((JSON_VALID("findings") OR "findings" IS NULL)), "withdrawn" datetime NULL, "withdrawn_because" varchar(300) NOT NULL, "benchmark_id" bigint NULL REFERENCES "leaderboard_benchmark" ("id") DEFERRABLE INITIALLY DEFERRED, "by_id" bigint NULL REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED, "model_id" bigint NULL REFERENCES "leaderboard_visionmodel" ("id") DEFERRABLE INITIALLY DEFERRED, "submission_id" char(32) NULL REFERENCES "submissions_submission" ("id") DEFERRABLE INITIALLY DEFERRED, "track_id" bigint NOT NULL REFERENCES "competitions_track" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "competitions_entry" VALUES(1,'','effnetb1_cutmixpatch_augmix_robust32_avge4e7_manylayers_324x288','effnetb1_cutmixpatch_augmix_robust32_avge4e7_manylayers_324x288',1,NULL,'{}','[]',NULL,'',NULL,NULL,NULL,NULL,1);
INSERT INTO "competitions_entry" VALUES(2,'','grcnn_robust_v1','grcnn_robust_v1',1,NULL,'{}','[]',NULL,'',NULL,NULL,NULL,NULL,1);
INSERT INTO "competitions_entry" VALUES(3,'','custom_model_cv_18_dagger_408','custom_model_cv_18_dagger_408',1,NULL,'{}','[]',NULL,'',NULL,NULL,NULL,NULL,1);
INSERT INTO "competitions_entry" VALUES(4,'Nick Baker, James Elder','Do Neural Networks Care How Parts are Arranged?','Baker2022fragmented-accuracy_delta',1,NULL,'{}','[]',NULL,'',NULL,NULL,NULL,NULL,4);
INSERT INTO "competitions_entry" VALUES(5,'Nick Baker, James Elder','Do Neural Networks Care How Parts are Arranged?','Baker2022frankenstein-accuracy_delta',1,NULL,'{}','[]',NULL,'',NULL,NULL,NULL,NULL,4);
INSERT INTO "competitions_entry" VALUES(6,'Nick Baker, James Elder','Do Neural Networks Care How Parts are Arranged?','Baker2022inverted-accuracy_delta',1,NULL,'{}','[]',NULL,'',NULL,NULL,NULL,NULL,4);
INSERT INTO "competitions_entry" VALUES(7,'Marin Dujmović, Gaurav Malhotra, Jeff Bowers','Brain-Score on Dotted Line Drawings and Textured Silhouettes','BMD2024.dotted_1Behavioral-accuracy_distance',1,NULL,'{}','[]',NULL,'',NULL,NULL,NULL,NULL,4);
INSERT INTO "competitions_entry" VALUES(8,'Marin Dujmović, Gaurav Malhotra, Jeff Bowers','Brain-Score on Dotted Line Drawings and Textured Silhouettes','BMD2024.dotted_2Behavioral-accuracy_distance',1,NULL,'{}','[]',NULL,'',NULL,NULL,NULL,NULL,4);
INSERT INTO "competitions_entry" VALUES(9,'Marin Dujmović, Gaurav Malhotra, Jeff Bowers','Brain-Score on Dotted Line Drawings and Textured Silhouettes','BMD2024.texture_1Behavioral-accuracy_distance',1,NULL,'{}','[]',NULL,'',NULL,NULL,NULL,NULL,4);
INSERT INTO "competitions_entry" VALUES(10,'Marin Dujmović, Gaurav Malhotra, Jeff Bowers','Brain-Score on Dotted Line Drawings and Textured Silhouettes','BMD2024.texture_2Behavioral-accuracy_distance',1,NULL,'{}','[]',NULL,'',NULL,NULL,NULL,NULL,4);
INSERT INTO "competitions_entry" VALUES(11,'David Coggan','Strong amodal completion of occluded objects across early and high-level visual cortices','tong.Coggan2024_fMRI.V1-rdm',1,NULL,'{}','[]',NULL,'',NULL,NULL,NULL,NULL,5);
INSERT INTO "competitions_entry" VALUES(12,'David Coggan','Strong amodal completion of occluded objects across early and high-level visual cortices','tong.Coggan2024_fMRI.V2-rdm',1,NULL,'{}','[]',NULL,'',NULL,NULL,NULL,NULL,5);
INSERT INTO "competitions_entry" VALUES(13,'David Coggan','Strong amodal completion of occluded objects across early and high-level visual cortices','tong.Coggan2024_fMRI.V4-rdm',1,NULL,'{}','[]',NULL,'',NULL,NULL,NULL,NULL,5);
INSERT INTO "competitions_entry" VALUES(14,'David Coggan','Strong amodal completion of occluded objects across early and high-level visual cortices','tong.Coggan2024_fMRI.IT-rdm',1,NULL,'{}','[]',NULL,'',NULL,NULL,NULL,NULL,5);
INSERT INTO "competitions_entry" VALUES(15,'Andrea Ivan Costantino','The Animate Space of Inanimate Perception','',1,NULL,'{}','[]',NULL,'',NULL,NULL,NULL,NULL,5);
INSERT INTO "competitions_entry" VALUES(16,'IT-rdm 313','Anna Ünsal 314','résumé 315',0,'2026-11-01 12:17:05','{"number": 318, "list": [1.5, null, "\u00e9"]}','{"number": 319, "list": [1.5, null, "\u00e9"]}','2026-11-01 12:20:05','alexnet 321',1,1,1,NULL,6);
INSERT INTO "competitions_entry" VALUES(17,'V1-pls 322','IT-rdm 323','Anna Ünsal 324',1,'2026-11-01 12:26:05','{"number": 327, "list": [1.5, null, "\u00e9"]}','{"number": 328, "list": [1.5, null, "\u00e9"]}','2026-11-01 12:29:05','gabor 330',2,2,2,NULL,7);
CREATE TABLE "competitions_milestone" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "order" integer NOT NULL, "kind" varchar(10) NOT NULL, "title" varchar(200) NOT NULL, "announced" text NOT NULL, "competition_id" bigint NOT NULL REFERENCES "competitions_competition" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "competitions_milestone" VALUES(1,1,'other','Suggestions of other behavioral tasks','until April',2);
INSERT INTO "competitions_milestone" VALUES(2,2,'deadline','Submissions until','2024-06-30
2024-07-08',2);
INSERT INTO "competitions_milestone" VALUES(3,3,'other','Workshop','early August 2024
2024-08-06',2);
INSERT INTO "competitions_milestone" VALUES(4,245,'opens','χ² 247','Text 248: model_a
',3);
INSERT INTO "competitions_milestone" VALUES(5,249,'deadline','alexnet 251','Text 252: V1-pls
',4);
CREATE TABLE "competitions_person" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "order" integer NOT NULL, "role" varchar(10) NOT NULL, "name" varchar(200) NOT NULL, "affiliation" varchar(200) NOT NULL, "url" varchar(200) NOT NULL, "competition_id" bigint NOT NULL REFERENCES "competitions_competition" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "competitions_person" VALUES(1,1,'organiser','Martin Schrimpf','EPFL','',2);
INSERT INTO "competitions_person" VALUES(2,2,'organiser','Kohitij Kar','York University','',2);
INSERT INTO "competitions_person" VALUES(3,253,'organiser','résumé 255','two words 256','https://example.org/257',3);
INSERT INTO "competitions_person" VALUES(4,258,'sponsor','gabor 260','alexnet 261','https://example.org/262',4);
CREATE TABLE "competitions_programmeitem" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "order" integer NOT NULL, "time" varchar(100) NOT NULL, "title" varchar(300) NOT NULL, "people" varchar(500) NOT NULL, "competition_id" bigint NOT NULL REFERENCES "competitions_competition" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "competitions_programmeitem" VALUES(1,1,'August 6, 2:00 pm','Competition findings','Martin Schrimpf',2);
INSERT INTO "competitions_programmeitem" VALUES(2,2,'2:15 pm','Behavioral benchmark winners','',2);
INSERT INTO "competitions_programmeitem" VALUES(3,3,'2:15 pm (1)','Do Neural Networks Care How Parts are Arranged?','Nick Baker, James Elder',2);
INSERT INTO "competitions_programmeitem" VALUES(4,4,'2:15 pm (2)','Brain-Score on Dotted Line Drawings and Textured Silhouettes','Marin Dujmović, Gaurav Malhotra, Jeff Bowers',2);
INSERT INTO "competitions_programmeitem" VALUES(5,5,'2:30 pm','Neural benchmark winners','',2);
INSERT INTO "competitions_programmeitem" VALUES(6,6,'2:30 pm (1)','Strong amodal completion of occluded objects across early and high-level visual cortices','David Coggan',2);
INSERT INTO "competitions_programmeitem" VALUES(7,7,'2:30 pm (2)','The Animate Space of Inanimate Perception','Andrea Ivan Costantino',2);
INSERT INTO "competitions_programmeitem" VALUES(8,8,'3:00 pm','Pros and cons of model benchmarking','Kohitij Kar',2);
INSERT INTO "competitions_programmeitem" VALUES(9,9,'3:10 pm','Panel discussion','Jenelle Feather, Dan Yamins, Kohitij Kar, Ev Fedorenko, Jeff Bowers, Eero Simoncelli; moderated by Jim DiCarlo',2);
INSERT INTO "competitions_programmeitem" VALUES(10,263,'Anna Ünsal 264','résumé 265','two words 266',3);
INSERT INTO "competitions_programmeitem" VALUES(11,267,'model_a 268','model_b 269','gabor 270',4);
CREATE TABLE "competitions_question" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "order" integer NOT NULL, "kind" varchar(10) NOT NULL, "question" varchar(500) NOT NULL, "answer" text NOT NULL, "competition_id" bigint NOT NULL REFERENCES "competitions_competition" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "competitions_question" VALUES(1,1,'critique','Testing on the same data over and over again can help modelers game the system.','*On this site:* measurements can stay private – models are scored on them, their authors do not see them – and new benchmarks keep coming in; scores on each are shown for themselves.',2);
INSERT INTO "competitions_question" VALUES(2,2,'critique','Why should we trust the Brain-Score rankings on these hand-picked benchmarks?','*On this site:* the [leaderboard](/vision/leaderboard/) ranks by any choice of benchmarks, and shows how far apart models are with their uncertainty.',2);
INSERT INTO "competitions_question" VALUES(3,3,'critique','We need to test models on specific hypotheses, not observational data.','*On this site:* a benchmark is an experiment: its stimuli and its metric can test one hypothesis, as benchmarks of neuronal properties and of illusions do.',2);
INSERT INTO "competitions_question" VALUES(4,4,'critique','Why should models only hit specific benchmarks? I don''t care about these benchmarks!','*On this site:* everybody can [submit a benchmark](/tutorials/authoring/); all models are scored on it.',2);
INSERT INTO "competitions_question" VALUES(5,271,'faq','IT-rdm 273','Text 274: Anna Ünsal
',3);
INSERT INTO "competitions_question" VALUES(6,275,'critique','χ² 277','Text 278: model_a
',4);
CREATE TABLE "competitions_snapshot" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "document" text NOT NULL CHECK ((JSON_VALID("document") OR "document" IS NULL)), "digest" varchar(64) NOT NULL, "created" datetime NOT NULL, "by_id" bigint NULL REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED, "competition_id" bigint NOT NULL REFERENCES "competitions_competition" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "competitions_snapshot" VALUES(1,'{"number": 331, "list": [1.5, null, "\u00e9"]}','V1-pls 332','2026-11-01 12:33:05',1,3);
INSERT INTO "competitions_snapshot" VALUES(2,'{"number": 334, "list": [1.5, null, "\u00e9"]}','résumé 335','2026-11-01 12:36:05',2,4);
CREATE TABLE "competitions_track" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "order" integer NOT NULL, "title" varchar(200) NOT NULL, "text" text NOT NULL, "competes" varchar(10) NOT NULL, "wins" varchar(10) NOT NULL, "listed" text NOT NULL, "inapplicable" varchar(10) NOT NULL, "floor" real NULL, "one_a_team" bool NOT NULL, "prizes" text NOT NULL, "split_ties" bool NOT NULL, "regions" varchar(200) NOT NULL, "species" varchar(200) NOT NULL, "tasks" varchar(200) NOT NULL, "static_images" bool NOT NULL, "single_time_bin" bool NOT NULL, "notes" text NOT NULL, "competition_id" bigint NOT NULL REFERENCES "competitions_competition" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "competitions_track" VALUES(1,1,'Overall','Highest mean over all 33 benchmarks.','models','highest','FreemanZiemba2013.V1-pls
Marques2020_Ringach2002-circular_variance
Marques2020_Ringach2002-or_bandwidth
Marques2020_Ringach2002-orth_pref_ratio
Marques2020_Ringach2002-or_selective
Marques2020_Ringach2002-cv_bandwidth_ratio
Marques2020_Ringach2002-opr_cv_diff
Marques2020_DeValois1982-pref_or
Marques2020_DeValois1982-peak_sf
Marques2020_Schiller1976-sf_selective
Marques2020_Schiller1976-sf_bandwidth
Marques2020_Cavanaugh2002-grating_summation_field
Marques2020_Cavanaugh2002-surround_diameter
Marques2020_Cavanaugh2002-surround_suppression_index
Marques2020_FreemanZiemba2013-texture_modulation_index
Marques2020_FreemanZiemba2013-abs_texture_modulation_index
Marques2020_FreemanZiemba2013-texture_selectivity
Marques2020_FreemanZiemba2013-texture_sparseness
Marques2020_FreemanZiemba2013-texture_variance_ratio
Marques2020_Ringach2002-max_dc
Marques2020_Ringach2002-modulation_ratio
Marques2020_FreemanZiemba2013-max_texture
Marques2020_FreemanZiemba2013-max_noise
FreemanZiemba2013.V2-pls
MajajHong2015.V4-pls
Sanghavi2020.V4-pls
SanghaviJozwik2020.V4-pls
SanghaviMurty2020.V4-pls
MajajHong2015.IT-pls
Sanghavi2020.IT-pls
SanghaviJozwik2020.IT-pls
SanghaviMurty2020.IT-pls
Rajalingham2018-i2n','zero',NULL,1,'',1,'','','',0,0,'It is known that these models were the first three of the competition, not of which track.',1);
INSERT INTO "competitions_track" VALUES(2,2,'V1','Highest mean over the benchmarks of V1.','models','highest','FreemanZiemba2013.V1-pls
Marques2020_Ringach2002-circular_variance
Marques2020_Ringach2002-or_bandwidth
Marques2020_Ringach2002-orth_pref_ratio
Marques2020_Ringach2002-or_selective
Marques2020_Ringach2002-cv_bandwidth_ratio
Marques2020_Ringach2002-opr_cv_diff
Marques2020_DeValois1982-pref_or
Marques2020_DeValois1982-peak_sf
Marques2020_Schiller1976-sf_selective
Marques2020_Schiller1976-sf_bandwidth
Marques2020_Cavanaugh2002-grating_summation_field
Marques2020_Cavanaugh2002-surround_diameter
Marques2020_Cavanaugh2002-surround_suppression_index
Marques2020_FreemanZiemba2013-texture_modulation_index
Marques2020_FreemanZiemba2013-abs_texture_modulation_index
Marques2020_FreemanZiemba2013-texture_selectivity
Marques2020_FreemanZiemba2013-texture_sparseness
Marques2020_FreemanZiemba2013-texture_variance_ratio
Marques2020_Ringach2002-max_dc
Marques2020_Ringach2002-modulation_ratio
Marques2020_FreemanZiemba2013-max_texture
Marques2020_FreemanZiemba2013-max_noise','zero',NULL,1,'',1,'','','',0,0,'Who entered, and who won, is not known.',1);
INSERT INTO "competitions_track" VALUES(3,3,'Behavior','Highest score on behavior.','models','highest','Rajalingham2018-i2n','zero',NULL,1,'',1,'','','',0,0,'Who entered, and who won, is not known.',1);
INSERT INTO "competitions_track" VALUES(4,1,'Behavioral track','Benchmarks of the behavior of humans or other primates, in any task that models engage on (labels, probabilities, odd one out). The lowest mean score over all models wins: as near to 0 as can be.','benchmarks','lowest','hmax
alexnet
CORnet-S
resnet-50-robust
voneresnet-50-non_stochastic
resnet18-local_aggregation
grcnn_robust_v1
custom_model_cv_18_dagger_408
ViT_L_32_imagenet1k
mobilenet_v2_1.4_224 | mobilenet_v2_1_4_224
pixels','leave out',0.0,1,'3000
2000',1,'','human, non-human primate','label, probabilities, odd_one_out',1,1,'',2);
INSERT INTO "competitions_track" VALUES(5,2,'Neural track','Benchmarks of neural activity along the ventral visual stream of humans or other primates: V1, V2, V4, IT. The lowest mean score over all models wins: as near to 0 as can be.','benchmarks','lowest','hmax
alexnet
CORnet-S
resnet-50-robust
voneresnet-50-non_stochastic
resnet18-local_aggregation
grcnn_robust_v1
custom_model_cv_18_dagger_408
ViT_L_32_imagenet1k
mobilenet_v2_1.4_224 | mobilenet_v2_1_4_224
pixels','leave out',0.0,1,'3000
2000',1,'V1, V2, V4, IT','human, non-human primate','',1,1,'Which benchmark “The Animate Space of Inanimate Perception” is, is not known here.',2);
INSERT INTO "competitions_track" VALUES(6,279,'gabor 280','Text 281: alexnet
','models','lowest','Text 284: Anna Ünsal
','leave out',4.08571428571428540976e+01,0,'Text 288: model_a
',0,'gabor 290','alexnet 291','V1-pls 292',0,0,'Text 295: résumé
',3);
INSERT INTO "competitions_track" VALUES(7,296,'χ² 297','Text 298: model_a
','benchmarks','highest','Text 301: alexnet
','zero',4.32857142857142847009e+01,1,'Text 305: résumé
',1,'χ² 307','model_a 308','model_b 309',1,1,'Text 312: V1-pls
',4);
CREATE TABLE "django_admin_log" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "object_id" text NULL, "object_repr" varchar(200) NOT NULL, "action_flag" smallint unsigned NOT NULL CHECK ("action_flag" >= 0), "change_message" text NOT NULL, "content_type_id" integer NULL REFERENCES "django_content_type" ("id") DEFERRABLE INITIALLY DEFERRED, "user_id" bigint NOT NULL REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED, "action_time" datetime NOT NULL);
CREATE TABLE "django_content_type" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "app_label" varchar(100) NOT NULL, "model" varchar(100) NOT NULL);
INSERT INTO "django_content_type" VALUES(1,'admin','logentry');
INSERT INTO "django_content_type" VALUES(2,'auth','permission');
INSERT INTO "django_content_type" VALUES(3,'auth','group');
INSERT INTO "django_content_type" VALUES(4,'contenttypes','contenttype');
INSERT INTO "django_content_type" VALUES(5,'sessions','session');
INSERT INTO "django_content_type" VALUES(6,'accounts','user');
INSERT INTO "django_content_type" VALUES(7,'accounts','apitoken');
INSERT INTO "django_content_type" VALUES(8,'accounts','sharedcacherow');
INSERT INTO "django_content_type" VALUES(9,'leaderboard','revision');
INSERT INTO "django_content_type" VALUES(10,'leaderboard','benchmark');
INSERT INTO "django_content_type" VALUES(11,'leaderboard','ingestion');
INSERT INTO "django_content_type" VALUES(12,'leaderboard','stimulussample');
INSERT INTO "django_content_type" VALUES(13,'leaderboard','visionmodel');
INSERT INTO "django_content_type" VALUES(14,'leaderboard','benchmarkversion');
INSERT INTO "django_content_type" VALUES(15,'leaderboard','score');
INSERT INTO "django_content_type" VALUES(16,'leaderboard','layerprofile');
INSERT INTO "django_content_type" VALUES(17,'competitions','competition');
INSERT INTO "django_content_type" VALUES(18,'competitions','milestone');
INSERT INTO "django_content_type" VALUES(19,'competitions','person');
INSERT INTO "django_content_type" VALUES(20,'competitions','programmeitem');
INSERT INTO "django_content_type" VALUES(21,'competitions','question');
INSERT INTO "django_content_type" VALUES(22,'competitions','snapshot');
INSERT INTO "django_content_type" VALUES(23,'competitions','track');
INSERT INTO "django_content_type" VALUES(24,'competitions','entry');
INSERT INTO "django_content_type" VALUES(25,'competitions','award');
INSERT INTO "django_content_type" VALUES(26,'pages','page');
INSERT INTO "django_content_type" VALUES(27,'pages','news');
INSERT INTO "django_content_type" VALUES(28,'uploads','upload');
INSERT INTO "django_content_type" VALUES(29,'uploads','uploadedfile');
INSERT INTO "django_content_type" VALUES(30,'submissions','revision');
INSERT INTO "django_content_type" VALUES(31,'submissions','review');
INSERT INTO "django_content_type" VALUES(32,'submissions','comment');
INSERT INTO "django_content_type" VALUES(33,'submissions','submission');
INSERT INTO "django_content_type" VALUES(34,'submissions','letter');
INSERT INTO "django_content_type" VALUES(35,'submissions','plugin');
INSERT INTO "django_content_type" VALUES(36,'submissions','step');
INSERT INTO "django_content_type" VALUES(37,'scoring','job');
INSERT INTO "django_content_type" VALUES(38,'operations','beat');
INSERT INTO "django_content_type" VALUES(39,'django_tasks_database','dbtaskresult');
INSERT INTO "django_content_type" VALUES(40,'account','emailaddress');
INSERT INTO "django_content_type" VALUES(41,'account','emailconfirmation');
INSERT INTO "django_content_type" VALUES(42,'mfa','authenticator');
CREATE TABLE "django_migrations" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "app" varchar(255) NOT NULL, "name" varchar(255) NOT NULL, "applied" datetime NOT NULL);
INSERT INTO "django_migrations" VALUES(1,'contenttypes','0001_initial','2026-11-22 23:55:51.376308');
INSERT INTO "django_migrations" VALUES(2,'contenttypes','0002_remove_content_type_name','2026-11-22 23:55:51.403490');
INSERT INTO "django_migrations" VALUES(3,'auth','0001_initial','2026-11-22 23:55:51.456782');
INSERT INTO "django_migrations" VALUES(4,'auth','0002_alter_permission_name_max_length','2026-11-22 23:55:51.481301');
INSERT INTO "django_migrations" VALUES(5,'auth','0003_alter_user_email_max_length','2026-11-22 23:55:51.504518');
INSERT INTO "django_migrations" VALUES(6,'auth','0004_alter_user_username_opts','2026-11-22 23:55:51.528105');
INSERT INTO "django_migrations" VALUES(7,'auth','0005_alter_user_last_login_null','2026-11-22 23:55:51.544425');
INSERT INTO "django_migrations" VALUES(8,'auth','0006_require_contenttypes_0002','2026-11-22 23:55:51.545521');
INSERT INTO "django_migrations" VALUES(9,'auth','0007_alter_validators_add_error_messages','2026-11-22 23:55:51.572352');
INSERT INTO "django_migrations" VALUES(10,'auth','0008_alter_user_username_max_length','2026-11-22 23:55:51.594531');
INSERT INTO "django_migrations" VALUES(11,'auth','0009_alter_user_last_name_max_length','2026-11-22 23:55:51.616139');
INSERT INTO "django_migrations" VALUES(12,'auth','0010_alter_group_name_max_length','2026-11-22 23:55:51.845584');
INSERT INTO "django_migrations" VALUES(13,'auth','0011_update_proxy_permissions','2026-11-22 23:55:51.865130');
INSERT INTO "django_migrations" VALUES(14,'auth','0012_alter_user_first_name_max_length','2026-11-22 23:55:51.884950');
INSERT INTO "django_migrations" VALUES(15,'accounts','0001_initial','2026-11-22 23:55:51.973076');
INSERT INTO "django_migrations" VALUES(16,'account','0001_initial','2026-11-22 23:55:52.049066');
INSERT INTO "django_migrations" VALUES(17,'account','0002_email_max_length','2026-11-22 23:55:52.102807');
INSERT INTO "django_migrations" VALUES(18,'account','0003_alter_emailaddress_create_unique_verified_email','2026-11-22 23:55:52.170916');
INSERT INTO "django_migrations" VALUES(19,'account','0004_alter_emailaddress_drop_unique_email','2026-11-22 23:55:52.207130');
INSERT INTO "django_migrations" VALUES(20,'account','0005_emailaddress_idx_upper_email','2026-11-22 23:55:52.251835');
INSERT INTO "django_migrations" VALUES(21,'account','0006_emailaddress_lower','2026-11-22 23:55:52.296439');
INSERT INTO "django_migrations" VALUES(22,'account','0007_emailaddress_idx_email','2026-11-22 23:55:52.401129');
INSERT INTO "django_migrations" VALUES(23,'account','0008_emailaddress_unique_primary_email_fixup','2026-11-22 23:55:52.465893');
INSERT INTO "django_migrations" VALUES(24,'account','0009_emailaddress_unique_primary_email','2026-11-22 23:55:52.502734');
INSERT INTO "django_migrations" VALUES(25,'accounts','0002_shared_cache_and_reviewers','2026-11-22 23:55:52.595937');
INSERT INTO "django_migrations" VALUES(26,'admin','0001_initial','2026-11-22 23:55:52.627244');
INSERT INTO "django_migrations" VALUES(27,'admin','0002_logentry_remove_auto_add','2026-11-22 23:55:52.686331');
INSERT INTO "django_migrations" VALUES(28,'admin','0003_logentry_add_action_flag_choices','2026-11-22 23:55:52.724304');
INSERT INTO "django_migrations" VALUES(29,'submissions','0001_initial','2026-11-22 23:55:53.484544');
INSERT INTO "django_migrations" VALUES(30,'leaderboard','0001_initial','2026-11-22 23:55:54.244914');
INSERT INTO "django_migrations" VALUES(31,'competitions','0001_initial','2026-11-22 23:55:55.077495');
INSERT INTO "django_migrations" VALUES(32,'django_tasks_database','0001_initial','2026-11-22 23:55:55.085109');
INSERT INTO "django_migrations" VALUES(33,'django_tasks_database','0002_alter_dbtaskresult_options','2026-11-22 23:55:55.095342');
INSERT INTO "django_migrations" VALUES(34,'django_tasks_database','0003_dbtaskresult_enqueued_at_dbtaskresult_finished_at','2026-11-22 23:55:55.514988');
INSERT INTO "django_migrations" VALUES(35,'django_tasks_database','0004_dbtaskresult_started_at','2026-11-22 23:55:55.544697');
INSERT INTO "django_migrations" VALUES(36,'django_tasks_database','0005_alter_dbtaskresult_priority_and_more','2026-11-22 23:55:55.618167');
INSERT INTO "django_migrations" VALUES(37,'django_tasks_database','0006_alter_dbtaskresult_args_kwargs_and_more','2026-11-22 23:55:55.743237');
INSERT INTO "django_migrations" VALUES(38,'django_tasks_database','0007_add_separate_results_fields','2026-11-22 23:55:55.831827');
INSERT INTO "django_migrations" VALUES(39,'django_tasks_database','0008_separate_results_field','2026-11-22 23:55:56.118756');
INSERT INTO "django_migrations" VALUES(40,'django_tasks_database','0009_remove_results_field','2026-11-22 23:55:56.168569');
INSERT INTO "django_migrations" VALUES(41,'django_tasks_database','0010_alter_dbtaskresult_status','2026-11-22 23:55:56.228005');
INSERT INTO "django_migrations" VALUES(42,'django_tasks_database','0011_rename_complete_status','2026-11-22 23:55:56.447993');
INSERT INTO "django_migrations" VALUES(43,'django_tasks_database','0012_add_separate_exception_fields','2026-11-22 23:55:56.564266');
INSERT INTO "django_migrations" VALUES(44,'django_tasks_database','0013_separate_exception_fields','2026-11-22 23:55:56.741208');
INSERT INTO "django_migrations" VALUES(45,'django_tasks_database','0014_remove_dbtaskresult_exception_data','2026-11-22 23:55:56.789809');
INSERT INTO "django_migrations" VALUES(46,'django_tasks_database','0015_correctly_order_run_after','2026-11-22 23:55:56.809611');
INSERT INTO "django_migrations" VALUES(47,'django_tasks_database','0016_remove_dbtaskresult_django_task_new_ordering_idx_and_more','2026-11-22 23:55:57.265079');
INSERT INTO "django_migrations" VALUES(48,'django_tasks_database','0017_dbtaskresult_metadata','2026-11-22 23:55:57.318133');
INSERT INTO "django_migrations" VALUES(49,'django_tasks_database','0018_rename_succeeded_status','2026-11-22 23:55:57.554757');
INSERT INTO "django_migrations" VALUES(50,'django_tasks_database','0019_rename_django_task_new_ordering_idx_tasks_db_new_ordering_idx_and_more','2026-11-22 23:55:57.726847');
INSERT INTO "django_migrations" VALUES(51,'django_tasks_database','0020_update_db_task_result_ordering','2026-11-22 23:55:57.777190');
INSERT INTO "django_migrations" VALUES(52,'django_tasks_database','0021_conditional_partial_index_ordering','2026-11-22 23:55:57.811151');
INSERT INTO "django_migrations" VALUES(53,'mfa','0001_initial','2026-11-22 23:55:57.976165');
INSERT INTO "django_migrations" VALUES(54,'mfa','0002_authenticator_timestamps','2026-11-22 23:55:58.225338');
INSERT INTO "django_migrations" VALUES(55,'mfa','0003_authenticator_type_uniq','2026-11-22 23:55:58.628523');
INSERT INTO "django_migrations" VALUES(56,'operations','0001_initial','2026-11-22 23:55:58.640545');
INSERT INTO "django_migrations" VALUES(57,'pages','0001_initial','2026-11-22 23:55:59.004224');
INSERT INTO "django_migrations" VALUES(58,'scoring','0001_initial','2026-11-22 23:55:59.210820');
INSERT INTO "django_migrations" VALUES(59,'sessions','0001_initial','2026-11-22 23:55:59.232478');
INSERT INTO "django_migrations" VALUES(60,'uploads','0001_initial','2026-11-22 23:56:00.456820');
CREATE TABLE "django_session" ("session_key" varchar(40) NOT NULL PRIMARY KEY, "session_data" text NOT NULL, "expire_date" datetime NOT NULL);
CREATE TABLE "django_tasks_database_dbtaskresult" ("id" char(32) NOT NULL PRIMARY KEY, "args_kwargs" text NOT NULL CHECK ((JSON_VALID("args_kwargs") OR "args_kwargs" IS NULL)), "priority" integer NOT NULL, "task_path" text NOT NULL, "queue_name" varchar(32) NOT NULL, "backend_name" varchar(32) NOT NULL, "run_after" datetime NOT NULL, "enqueued_at" datetime NOT NULL, "finished_at" datetime NULL, "started_at" datetime NULL, "return_value" text NULL CHECK ((JSON_VALID("return_value") OR "return_value" IS NULL)), "exception_class_path" text NOT NULL, "traceback" text NOT NULL, "worker_ids" text NOT NULL CHECK ((JSON_VALID("worker_ids") OR "worker_ids" IS NULL)), "status" varchar(10) NOT NULL, CONSTRAINT "priority_range" CHECK ("priority" BETWEEN -100 AND 100));
CREATE TABLE "leaderboard_benchmark" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "identifier" varchar(200) NOT NULL UNIQUE, "is_mean" bool NOT NULL, "order" integer NOT NULL, "title" varchar(200) NOT NULL, "version" varchar(50) NOT NULL, "control" bool NOT NULL, "in_tree" bool NOT NULL, "access" varchar(10) NOT NULL, "credit" varchar(500) NOT NULL, "description" text NOT NULL, "region" varchar(50) NOT NULL, "species" varchar(100) NOT NULL, "task" varchar(200) NOT NULL, "method" varchar(200) NOT NULL, "stimuli" varchar(200) NOT NULL, "n_stimuli" integer NULL, "n_subjects" integer NULL, "n_neuroids" integer NULL, "metric" varchar(200) NOT NULL, "source" varchar(500) NOT NULL, "bibtex" text NOT NULL, "plugin" varchar(200) NOT NULL, "details" text NOT NULL CHECK ((JSON_VALID("details") OR "details" IS NULL)), "synced" text NOT NULL CHECK ((JSON_VALID("synced") OR "synced" IS NULL)), "created" datetime NOT NULL, "owner_id" bigint NULL REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED, "parent_id" bigint NULL REFERENCES "leaderboard_benchmark" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "leaderboard_benchmark" VALUES(1,'alexnet 71',0,73,'Anna Ünsal 74','résumé 75',0,0,'public','model_b 79','Text 80: gabor
','alexnet 81','V1-pls 82','IT-rdm 83','Anna Ünsal 84','résumé 85',86,87,88,'model_b 89','https://example.org/90','Text 91: alexnet
','V1-pls 92','{"number": 93, "list": [1.5, null, "\u00e9"]}','{"number": 94, "list": [1.5, null, "\u00e9"]}','2026-11-01 12:35:01',1,NULL);
INSERT INTO "leaderboard_benchmark" VALUES(2,'two words 96',1,98,'model_b 99','gabor 100',1,1,'private','Anna Ünsal 104','Text 105: résumé
','two words 106','χ² 107','model_a 108','model_b 109','gabor 110',111,112,113,'Anna Ünsal 114','https://example.org/115','Text 116: two words
','χ² 117','{"number": 118, "list": [1.5, null, "\u00e9"]}','{"number": 119, "list": [1.5, null, "\u00e9"]}','2026-11-01 12:00:02',2,1);
CREATE TABLE "leaderboard_benchmarkversion" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "version" varchar(50) NOT NULL, "since" datetime NOT NULL, "ceiling" real NULL, "ceiling_error" real NULL, "ceiling_low" real NULL, "ceiling_high" real NULL, "ceiling_level" real NULL, "ceiling_meaning" varchar(50) NOT NULL, "ceiling_estimates" varchar(500) NOT NULL, "ceiling_reason" varchar(500) NOT NULL, "lower_bound" real NULL, "changes" text NOT NULL, "synced" text NOT NULL CHECK ((JSON_VALID("synced") OR "synced" IS NULL)), "benchmark_id" bigint NOT NULL REFERENCES "leaderboard_benchmark" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_row_a_version" UNIQUE ("benchmark_id", "version"));
INSERT INTO "leaderboard_benchmarkversion" VALUES(1,'alexnet 121','2026-11-01 12:02:02',1.75714285714285729507e+01,1.77142857142857153003e+01,1.78571428571428576499e+01,18.0,1.81428571428571423496e+01,'model_a 128','model_b 129','gabor 130',1.87142857142857153007e+01,'Text 132: V1-pls
','{"number": 133, "list": [1.5, null, "\u00e9"]}',1);
INSERT INTO "leaderboard_benchmarkversion" VALUES(2,'Anna Ünsal 134','2026-11-01 12:15:02',1.94285714285714270488e+01,1.95714285714285729511e+01,1.97142857142857153007e+01,1.98571428571428576503e+01,20.0,'alexnet 141','V1-pls 142','IT-rdm 143',2.05714285714285729502e+01,'Text 145: résumé
','{"number": 146, "list": [1.5, null, "\u00e9"]}',2);
CREATE TABLE "leaderboard_ingestion" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "source" varchar(500) NOT NULL, "started" datetime NOT NULL, "finished" datetime NULL, "added" integer NOT NULL, "known" integer NOT NULL, "problems" text NOT NULL CHECK ((JSON_VALID("problems") OR "problems" IS NULL)), "by_id" bigint NULL REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "leaderboard_ingestion" VALUES(1,'IT-rdm 203','2026-11-01 12:24:03','2026-11-01 12:25:03',206,207,'{"number": 208, "list": [1.5, null, "\u00e9"]}',1);
INSERT INTO "leaderboard_ingestion" VALUES(2,'model_b 209','2026-11-01 12:30:03','2026-11-01 12:31:03',212,213,'{"number": 214, "list": [1.5, null, "\u00e9"]}',2);
CREATE TABLE "leaderboard_layerprofile" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "benchmark" varchar(200) NOT NULL, "region" varchar(50) NOT NULL, "document" text NOT NULL CHECK ((JSON_VALID("document") OR "document" IS NULL)), "created" datetime NOT NULL, "model_id" bigint NOT NULL REFERENCES "leaderboard_visionmodel" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_profile_each" UNIQUE ("model_id", "benchmark", "region"));
INSERT INTO "leaderboard_layerprofile" VALUES(1,'model_b 189','gabor 190','{"number": 191, "list": [1.5, null, "\u00e9"]}','2026-11-01 12:12:03',1);
INSERT INTO "leaderboard_layerprofile" VALUES(2,'IT-rdm 193','Anna Ünsal 194','{"number": 195, "list": [1.5, null, "\u00e9"]}','2026-11-01 12:16:03',2);
CREATE TABLE "leaderboard_revision" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "number" bigint NOT NULL);
CREATE TABLE "leaderboard_score" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "receipt" varchar(80) NOT NULL UNIQUE, "version" varchar(50) NOT NULL, "state" varchar(20) NOT NULL, "reason" text NOT NULL, "value" real NULL, "error" real NULL, "low" real NULL, "high" real NULL, "level" real NULL, "estimates" varchar(500) NOT NULL, "error_reason" varchar(500) NOT NULL, "scale" varchar(20) NOT NULL, "unclamped" real NULL, "raw" real NULL, "raw_error" real NULL, "raw_low" real NULL, "raw_high" real NULL, "ceiling" real NULL, "seconds" real NULL, "created" datetime NOT NULL, "document" text NULL CHECK ((JSON_VALID("document") OR "document" IS NULL)), "benchmark_id" bigint NOT NULL REFERENCES "leaderboard_benchmark" ("id") DEFERRABLE INITIALLY DEFERRED, "model_id" bigint NOT NULL REFERENCES "leaderboard_visionmodel" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "leaderboard_score" VALUES(1,'χ² 147','model_a 148','scored','Text 150: gabor
',2.15714285714285729515e+01,2.17142857142857153012e+01,2.18571428571428576508e+01,22.0,2.214285714285714235e+01,'two words 156','χ² 157','model_a 158',2.27142857142857153003e+01,2.28571428571428576499e+01,23.0,2.31428571428571423491e+01,2.32857142857142846987e+01,2.34285714285714270484e+01,2.3571428571428572952e+01,'2026-11-01 12:46:02','{"number": 167, "list": [1.5, null, "\u00e9"]}',1,1);
INSERT INTO "leaderboard_score" VALUES(2,'model_a 168','model_b 169','undefined','Text 171: alexnet
',2.45714285714285729511e+01,2.47142857142857153007e+01,2.48571428571428576503e+01,25.0,2.51428571428571423496e+01,'χ² 177','model_a 178','model_b 179',2.57142857142857152999e+01,2.58571428571428576495e+01,26.0,2.61428571428571423487e+01,2.62857142857142846983e+01,2.64285714285714270479e+01,2.65714285714285729515e+01,'2026-11-01 12:07:03','{"number": 188, "list": [1.5, null, "\u00e9"]}',2,2);
CREATE TABLE "leaderboard_stimulussample" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "image" varchar(100) NOT NULL, "caption" varchar(200) NOT NULL, "place" integer NOT NULL, "benchmark_id" bigint NOT NULL REFERENCES "leaderboard_benchmark" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "leaderboard_stimulussample" VALUES(1,'samples/197.png','model_a 198',199,1);
INSERT INTO "leaderboard_stimulussample" VALUES(2,'samples/200.png','alexnet 201',202,2);
CREATE TABLE "leaderboard_visionmodel" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "identifier" varchar(200) NOT NULL UNIQUE, "visibility" varchar(10) NOT NULL, "title" varchar(200) NOT NULL, "architecture" varchar(200) NOT NULL, "family" varchar(100) NOT NULL, "parameters" bigint NULL, "size_mb" real NULL, "training_data" varchar(200) NOT NULL, "runnable" bool NOT NULL, "regions" text NOT NULL CHECK ((JSON_VALID("regions") OR "regions" IS NULL)), "source" varchar(500) NOT NULL, "bibtex" text NOT NULL, "plugin" varchar(200) NOT NULL, "details" text NOT NULL CHECK ((JSON_VALID("details") OR "details" IS NULL)), "synced" text NOT NULL CHECK ((JSON_VALID("synced") OR "synced" IS NULL)), "created" datetime NOT NULL, "owner_id" bigint NULL REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "leaderboard_visionmodel" VALUES(1,'model_b 39','public','alexnet 41','V1-pls 42','IT-rdm 43',44,6.42857142857142882519e+00,'two words 46',0,'{"number": 48, "list": [1.5, null, "\u00e9"]}','https://example.org/49','Text 50: gabor
','alexnet 51','{"number": 52, "list": [1.5, null, "\u00e9"]}','{"number": 53, "list": [1.5, null, "\u00e9"]}','2026-11-01 12:54:00',1);
INSERT INTO "leaderboard_visionmodel" VALUES(2,'résumé 55','private','χ² 57','model_a 58','model_b 59',60,8.71428571428571352441e+00,'V1-pls 62',1,'{"number": 64, "list": [1.5, null, "\u00e9"]}','https://example.org/65','Text 66: two words
','χ² 67','{"number": 68, "list": [1.5, null, "\u00e9"]}','{"number": 69, "list": [1.5, null, "\u00e9"]}','2026-11-01 12:10:01',2);
CREATE TABLE "mfa_authenticator" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "type" varchar(20) NOT NULL, "data" text NOT NULL CHECK ((JSON_VALID("data") OR "data" IS NULL)), "user_id" bigint NOT NULL REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED, "created_at" datetime NOT NULL, "last_used_at" datetime NULL);
CREATE TABLE "operations_beat" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "kind" varchar(40) NOT NULL, "name" varchar(200) NOT NULL, "seen" datetime NOT NULL, CONSTRAINT "one_beat_a_process" UNIQUE ("kind", "name"));
INSERT INTO "operations_beat" VALUES(1,'model_b 559','gabor 560','2026-11-01 12:21:09');
INSERT INTO "operations_beat" VALUES(2,'V1-pls 562','IT-rdm 563','2026-11-01 12:24:09');
CREATE TABLE "pages_news" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "slug" varchar(100) NOT NULL UNIQUE, "title" varchar(200) NOT NULL, "body" text NOT NULL, "published" datetime NOT NULL, "draft" bool NOT NULL, "created" datetime NOT NULL, "changed" datetime NOT NULL, "by_id" bigint NULL REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "pages_news" VALUES(1,'slug-357','model_a 358','Text 359: model_b
','2026-11-01 12:00:06',0,'2026-11-01 12:02:06','2026-11-22 23:56:01.733818',1);
INSERT INTO "pages_news" VALUES(2,'slug-364','résumé 365','Text 366: two words
','2026-11-01 12:07:06',1,'2026-11-01 12:09:06','2026-11-22 23:56:01.734691',2);
CREATE TABLE "pages_page" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "slug" varchar(60) NOT NULL UNIQUE, "title" varchar(200) NOT NULL, "body" text NOT NULL, "published" bool NOT NULL, "changed" datetime NOT NULL, "by_id" bigint NULL REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "pages_page" VALUES(1,'slug-347','model_a 348','Text 349: model_b
',0,'2026-11-22 23:56:01.726416',1);
INSERT INTO "pages_page" VALUES(2,'slug-352','IT-rdm 353','Text 354: Anna Ünsal
',1,'2026-11-22 23:56:01.727158',2);
CREATE TABLE "scoring_job" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "why" varchar(100) NOT NULL, "priority" integer NOT NULL, "state" varchar(14) NOT NULL, "created" datetime NOT NULL, "due" datetime NOT NULL, "claim" varchar(40) NOT NULL, "claimed" datetime NULL, "worker" varchar(200) NOT NULL, "attempts" integer NOT NULL, "stop" bool NOT NULL, "started" datetime NULL, "ended" datetime NULL, "receipt" varchar(100) NOT NULL, "reason" text NOT NULL, "log" text NOT NULL, "asked_by_id" bigint NULL REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED, "benchmark_id" bigint NOT NULL REFERENCES "leaderboard_benchmark" ("id") DEFERRABLE INITIALLY DEFERRED, "model_id" bigint NOT NULL REFERENCES "leaderboard_visionmodel" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "scoring_job" VALUES(1,'model_b 529',530,'waiting','2026-11-01 12:52:08','2026-11-01 12:53:08','Anna Ünsal 534','2026-11-01 12:55:08','two words 536',537,0,'2026-11-01 12:59:08','2026-11-01 12:00:09','alexnet 541','Text 542: V1-pls
','Text 543: IT-rdm
',1,1,1);
INSERT INTO "scoring_job" VALUES(2,'Anna Ünsal 544',545,'running','2026-11-01 12:07:09','2026-11-01 12:08:09','model_b 549','2026-11-01 12:10:09','alexnet 551',552,1,'2026-11-01 12:14:09','2026-11-01 12:15:09','two words 556','Text 557: χ²
','Text 558: model_a
',2,2,2);
CREATE TABLE "scoring_job_submissions" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "job_id" bigint NOT NULL REFERENCES "scoring_job" ("id") DEFERRABLE INITIALLY DEFERRED, "submission_id" char(32) NOT NULL REFERENCES "submissions_submission" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "scoring_job_submissions" VALUES(1,1,'000000000000000000000000000001a9');
INSERT INTO "scoring_job_submissions" VALUES(2,2,'000000000000000000000000000001af');
CREATE TABLE "submissions_comment" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "path" varchar(500) NOT NULL, "line" integer NULL, "text" text NOT NULL, "created" datetime NOT NULL, "resolved" datetime NULL, "author_id" bigint NULL REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED, "revision_id" bigint NOT NULL REFERENCES "submissions_revision" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "submissions_comment" VALUES(1,'résumé 485',486,'Text 487: χ²
','2026-11-01 12:08:08','2026-11-01 12:09:08',1,1);
INSERT INTO "submissions_comment" VALUES(2,'gabor 490',491,'Text 492: V1-pls
','2026-11-01 12:13:08','2026-11-01 12:14:08',2,2);
CREATE TABLE "submissions_letter" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "subject" varchar(300) NOT NULL, "body" text NOT NULL, "created" datetime NOT NULL, "sent" datetime NULL, "due" datetime NOT NULL, "attempts" integer NOT NULL, "problem" varchar(500) NOT NULL, "to_id" bigint NOT NULL REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED, "submission_id" char(32) NULL REFERENCES "submissions_submission" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "submissions_letter" VALUES(1,'résumé 515','Text 516: two words
','2026-11-01 12:37:08','2026-11-01 12:38:08','2026-11-01 12:39:08',520,'alexnet 521',1,'000000000000000000000000000001a9');
INSERT INTO "submissions_letter" VALUES(2,'V1-pls 522','Text 523: IT-rdm
','2026-11-01 12:44:08','2026-11-01 12:45:08','2026-11-01 12:46:08',527,'model_a 528',2,'000000000000000000000000000001af');
CREATE TABLE "submissions_plugin" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "kind" varchar(10) NOT NULL, "name" varchar(200) NOT NULL, "identifiers" text NOT NULL CHECK ((JSON_VALID("identifiers") OR "identifiers" IS NULL)), "code" varchar(64) NOT NULL, "published" datetime NOT NULL, "owner_id" bigint NULL REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED, "revision_id" bigint NOT NULL REFERENCES "submissions_revision" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_plugin_a_name" UNIQUE ("kind", "name"));
INSERT INTO "submissions_plugin" VALUES(1,'models','two words 506','{"number": 507, "list": [1.5, null, "\u00e9"]}','model_a 508','2026-11-01 12:29:08',1,1);
INSERT INTO "submissions_plugin" VALUES(2,'benchmarks','alexnet 511','{"number": 512, "list": [1.5, null, "\u00e9"]}','IT-rdm 513','2026-11-01 12:34:08',2,2);
CREATE TABLE "submissions_review" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "verdict" varchar(10) NOT NULL, "aspects" text NOT NULL CHECK ((JSON_VALID("aspects") OR "aspects" IS NULL)), "checklist" text NOT NULL CHECK ((JSON_VALID("checklist") OR "checklist" IS NULL)), "text" text NOT NULL, "created" datetime NOT NULL, "reviewer_id" bigint NULL REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED, "revision_id" bigint NOT NULL REFERENCES "submissions_revision" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "submissions_review" VALUES(1,'approved','{"number": 496, "list": [1.5, null, "\u00e9"]}','{"number": 497, "list": [1.5, null, "\u00e9"]}','Text 498: model_a
','2026-11-01 12:19:08',1,1);
INSERT INTO "submissions_review" VALUES(2,'changes','{"number": 501, "list": [1.5, null, "\u00e9"]}','{"number": 502, "list": [1.5, null, "\u00e9"]}','Text 503: IT-rdm
','2026-11-01 12:24:08',2,2);
CREATE TABLE "submissions_revision" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "number" integer NOT NULL, "created" datetime NOT NULL, "origin" varchar(4) NOT NULL, "address" varchar(500) NOT NULL, "commit" varchar(64) NOT NULL, "note" text NOT NULL, "archive" BLOB NOT NULL, "digest" varchar(64) NOT NULL, "size" bigint NOT NULL, "plugins" text NOT NULL CHECK ((JSON_VALID("plugins") OR "plugins" IS NULL)), "findings" text NOT NULL CHECK ((JSON_VALID("findings") OR "findings" IS NULL)), "by_id" bigint NULL REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED, "submission_id" char(32) NOT NULL REFERENCES "submissions_submission" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_revision_a_number" UNIQUE ("submission_id", "number"));
INSERT INTO "submissions_revision" VALUES(1,437,'2026-11-01 12:18:07','zip','gabor 440','alexnet 441','Text 442: V1-pls
',X'504B0304BB','Anna Ünsal 444',445,'{"number": 446, "list": [1.5, null, "\u00e9"]}','{"number": 447, "list": [1.5, null, "\u00e9"]}',1,'000000000000000000000000000001a9');
INSERT INTO "submissions_revision" VALUES(2,448,'2026-11-01 12:29:07','git','alexnet 451','V1-pls 452','Text 453: IT-rdm
',X'504B0304C6','résumé 455',456,'{"number": 457, "list": [1.5, null, "\u00e9"]}','{"number": 458, "list": [1.5, null, "\u00e9"]}',2,'000000000000000000000000000001af');
CREATE TABLE "submissions_step" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "kind" varchar(10) NOT NULL, "order" integer NOT NULL, "state" varchar(10) NOT NULL, "claim" varchar(40) NOT NULL, "claimed" datetime NULL, "due" datetime NULL, "attempts" integer NOT NULL, "started" datetime NULL, "ended" datetime NULL, "reason" text NOT NULL, "internal" text NOT NULL, "log" text NOT NULL, "result" text NOT NULL CHECK ((JSON_VALID("result") OR "result" IS NULL)), "revision_id" bigint NOT NULL REFERENCES "submissions_revision" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_step_a_kind" UNIQUE ("revision_id", "kind"));
INSERT INTO "submissions_step" VALUES(1,'check',460,'waiting','V1-pls 462','2026-11-01 12:43:07','2026-11-01 12:44:07',465,'2026-11-01 12:46:07','2026-11-01 12:47:07','Text 468: model_a
','Text 469: model_b
','Text 470: gabor
','{"number": 471, "list": [1.5, null, "\u00e9"]}',1);
INSERT INTO "submissions_step" VALUES(2,'test',473,'running','résumé 475','2026-11-01 12:56:07','2026-11-01 12:57:07',478,'2026-11-01 12:59:07','2026-11-01 12:00:08','Text 481: alexnet
','Text 482: V1-pls
','Text 483: IT-rdm
','{"number": 484, "list": [1.5, null, "\u00e9"]}',2);
CREATE TABLE "submissions_submission" ("id" char(32) NOT NULL PRIMARY KEY, "title" varchar(300) NOT NULL, "visibility" varchar(10) NOT NULL, "state" varchar(10) NOT NULL, "created" datetime NOT NULL, "changed" datetime NOT NULL, "owner_id" bigint NULL REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "submissions_submission" VALUES('000000000000000000000000000001a9','two words 426','public','queued','2026-11-01 12:09:07','2026-11-01 12:10:07',1);
INSERT INTO "submissions_submission" VALUES('000000000000000000000000000001af','V1-pls 432','private','changes','2026-11-01 12:15:07','2026-11-01 12:16:07',2);
CREATE TABLE "uploads_upload" ("id" char(32) NOT NULL PRIMARY KEY, "identifier" varchar(200) NOT NULL, "assembly_identifier" varchar(200) NOT NULL, "assembly_class" varchar(50) NOT NULL, "visibility" varchar(10) NOT NULL, "state" varchar(10) NOT NULL, "created" datetime NOT NULL, "changed" datetime NOT NULL, "claim" varchar(40) NOT NULL, "claimed" datetime NULL, "attempts" integer NOT NULL, "findings" text NOT NULL CHECK ((JSON_VALID("findings") OR "findings" IS NULL)), "facts" text NOT NULL CHECK ((JSON_VALID("facts") OR "facts" IS NULL)), "owner_id" bigint NULL REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "uploads_upload" VALUES('00000000000000000000000000000173','V1-pls 372','IT-rdm 373','NeuroidAssembly','public','receiving','2026-11-01 12:17:06','2026-11-01 12:18:06','model_b 379','2026-11-01 12:20:06',381,'{"number": 382, "list": [1.5, null, "\u00e9"]}','{"number": 383, "list": [1.5, null, "\u00e9"]}',1);
INSERT INTO "uploads_upload" VALUES('00000000000000000000000000000180','résumé 385','two words 386','BehavioralAssembly','private','checking','2026-11-01 12:30:06','2026-11-01 12:31:06','V1-pls 392','2026-11-01 12:33:06',394,'{"number": 395, "list": [1.5, null, "\u00e9"]}','{"number": 396, "list": [1.5, null, "\u00e9"]}',2);
CREATE TABLE "uploads_uploadedfile" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "kind" varchar(3) NOT NULL, "claim" varchar(40) NOT NULL, "reserved" bigint NOT NULL, "touched" datetime NULL, "token" varchar(40) NOT NULL, "size" bigint NULL, "sent_as" varchar(255) NOT NULL, "expected_sha1" varchar(40) NOT NULL, "sha1" varchar(40) NOT NULL, "sha256" varchar(64) NOT NULL, "bucket" varchar(100) NOT NULL, "key" varchar(500) NOT NULL, "version_id" varchar(200) NOT NULL, "everybody" bool NOT NULL, "upload_id" char(32) NOT NULL REFERENCES "uploads_upload" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_file_a_kind" UNIQUE ("upload_id", "kind"));
INSERT INTO "uploads_uploadedfile" VALUES(1,'csv','model_a 398',399,'2026-11-01 12:40:06','alexnet 401',402,'IT-rdm 403','Anna Ünsal 404','résumé 405','two words 406','χ² 407','model_a 408','model_b 409',0,'00000000000000000000000000000173');
INSERT INTO "uploads_uploadedfile" VALUES(2,'zip','V1-pls 412',413,'2026-11-01 12:54:06','résumé 415',416,'χ² 417','model_a 418','model_b 419','gabor 420','alexnet 421','V1-pls 422','IT-rdm 423',1,'00000000000000000000000000000180');
CREATE UNIQUE INDEX "django_content_type_app_label_model_76bd3d3b_uniq" ON "django_content_type" ("app_label", "model");
CREATE UNIQUE INDEX "auth_group_permissions_group_id_permission_id_0cd325b0_uniq" ON "auth_group_permissions" ("group_id", "permission_id");
CREATE INDEX "auth_group_permissions_group_id_b120cbf9" ON "auth_group_permissions" ("group_id");
CREATE INDEX "auth_group_permissions_permission_id_84c5c92e" ON "auth_group_permissions" ("permission_id");
CREATE UNIQUE INDEX "auth_permission_content_type_id_codename_01ab375a_uniq" ON "auth_permission" ("content_type_id", "codename");
CREATE INDEX "auth_permission_content_type_id_2f476e4b" ON "auth_permission" ("content_type_id");
CREATE UNIQUE INDEX "email_whatever_its_case" ON "accounts_user" ((LOWER("email")));
CREATE UNIQUE INDEX "accounts_user_groups_user_id_group_id_59c0b32f_uniq" ON "accounts_user_groups" ("user_id", "group_id");
CREATE INDEX "accounts_user_groups_user_id_52b62117" ON "accounts_user_groups" ("user_id");
CREATE INDEX "accounts_user_groups_group_id_bd11a704" ON "accounts_user_groups" ("group_id");
CREATE UNIQUE INDEX "accounts_user_user_permissions_user_id_permission_id_2ab516c2_uniq" ON "accounts_user_user_permissions" ("user_id", "permission_id");
CREATE INDEX "accounts_user_user_permissions_user_id_e4f0a161" ON "accounts_user_user_permissions" ("user_id");
CREATE INDEX "accounts_user_user_permissions_permission_id_113bb443" ON "accounts_user_user_permissions" ("permission_id");
CREATE INDEX "accounts_apitoken_user_id_bbee13e0" ON "accounts_apitoken" ("user_id");
CREATE INDEX "account_emailconfirmation_email_address_id_5b7f8c58" ON "account_emailconfirmation" ("email_address_id");
CREATE UNIQUE INDEX "account_emailaddress_user_id_email_987c8728_uniq" ON "account_emailaddress" ("user_id", "email");
CREATE UNIQUE INDEX "unique_verified_email" ON "account_emailaddress" ("email") WHERE "verified";
CREATE INDEX "account_emailaddress_user_id_2c513194" ON "account_emailaddress" ("user_id");
CREATE INDEX "account_emailaddress_email_03be32b2" ON "account_emailaddress" ("email");
CREATE UNIQUE INDEX "unique_primary_email" ON "account_emailaddress" ("user_id", "primary") WHERE "primary";
CREATE INDEX "accounts_shared_cache_expires_f470af73" ON "accounts_shared_cache" ("expires");
CREATE INDEX "django_admin_log_content_type_id_c4bce8eb" ON "django_admin_log" ("content_type_id");
CREATE INDEX "django_admin_log_user_id_c564eba6" ON "django_admin_log" ("user_id");
CREATE INDEX "submissions_review_reviewer_id_4bf8b68c" ON "submissions_review" ("reviewer_id");
CREATE INDEX "submissions_review_revision_id_b3da6c20" ON "submissions_review" ("revision_id");
CREATE INDEX "submissions_comment_author_id_0555d668" ON "submissions_comment" ("author_id");
CREATE INDEX "submissions_comment_revision_id_c1c8e16b" ON "submissions_comment" ("revision_id");
CREATE INDEX "submissions_submission_owner_id_7d09c8ed" ON "submissions_submission" ("owner_id");
CREATE INDEX "submissions_owner_i_59e0c0_idx" ON "submissions_submission" ("owner_id", "state");
CREATE INDEX "submissions_state_f75cd6_idx" ON "submissions_submission" ("state", "changed");
CREATE INDEX "submissions_letter_to_id_b71e863f" ON "submissions_letter" ("to_id");
CREATE INDEX "submissions_letter_submission_id_4b295ed3" ON "submissions_letter" ("submission_id");
CREATE INDEX "submissions_plugin_owner_id_96f6d63d" ON "submissions_plugin" ("owner_id");
CREATE INDEX "submissions_plugin_revision_id_2c553347" ON "submissions_plugin" ("revision_id");
CREATE INDEX "submissions_step_revision_id_dadce076" ON "submissions_step" ("revision_id");
CREATE INDEX "submissions_state_b717b2_idx" ON "submissions_step" ("state", "due");
CREATE INDEX "submissions_state_da2a6c_idx" ON "submissions_step" ("state", "claimed");
CREATE INDEX "submissions_revision_by_id_9c451581" ON "submissions_revision" ("by_id");
CREATE INDEX "submissions_revision_submission_id_fa488b6c" ON "submissions_revision" ("submission_id");
CREATE INDEX "submissions_sent_adcbd5_idx" ON "submissions_letter" ("sent", "due");
CREATE INDEX "leaderboard_benchmark_owner_id_ceebf063" ON "leaderboard_benchmark" ("owner_id");
CREATE INDEX "leaderboard_benchmark_parent_id_ec745817" ON "leaderboard_benchmark" ("parent_id");
CREATE INDEX "leaderboard_ingestion_by_id_81a519e6" ON "leaderboard_ingestion" ("by_id");
CREATE INDEX "leaderboard_stimulussample_benchmark_id_796071ab" ON "leaderboard_stimulussample" ("benchmark_id");
CREATE INDEX "leaderboard_visionmodel_owner_id_38d5796f" ON "leaderboard_visionmodel" ("owner_id");
CREATE INDEX "leaderboard_benchmarkversion_benchmark_id_38c7e37a" ON "leaderboard_benchmarkversion" ("benchmark_id");
CREATE INDEX "leaderboard_score_benchmark_id_457b4b51" ON "leaderboard_score" ("benchmark_id");
CREATE INDEX "leaderboard_score_model_id_84ed3ee0" ON "leaderboard_score" ("model_id");
CREATE INDEX "leaderboard_model_i_4174f9_idx" ON "leaderboard_score" ("model_id", "benchmark_id", "created");
CREATE INDEX "leaderboard_benchma_c4f2e8_idx" ON "leaderboard_score" ("benchmark_id", "created");
CREATE INDEX "leaderboard_created_29f94b_idx" ON "leaderboard_score" ("created");
CREATE INDEX "leaderboard_layerprofile_model_id_cbc0206f" ON "leaderboard_layerprofile" ("model_id");
CREATE UNIQUE INDEX "enters_a_track_once" ON "competitions_entry" ("track_id", "identifier") WHERE ("withdrawn" IS NULL AND NOT ("identifier" = ''));
CREATE INDEX "competitions_milestone_competition_id_873676c0" ON "competitions_milestone" ("competition_id");
CREATE INDEX "competitions_person_competition_id_ab94d9b5" ON "competitions_person" ("competition_id");
CREATE INDEX "competitions_programmeitem_competition_id_18bf1e60" ON "competitions_programmeitem" ("competition_id");
CREATE INDEX "competitions_question_competition_id_3bb24abe" ON "competitions_question" ("competition_id");
CREATE INDEX "competitions_snapshot_by_id_63184d93" ON "competitions_snapshot" ("by_id");
CREATE INDEX "competitions_snapshot_competition_id_a6621f20" ON "competitions_snapshot" ("competition_id");
CREATE INDEX "competitions_track_competition_id_419444b0" ON "competitions_track" ("competition_id");
CREATE INDEX "competitions_entry_benchmark_id_b2f3b0bf" ON "competitions_entry" ("benchmark_id");
CREATE INDEX "competitions_entry_by_id_fa95d55a" ON "competitions_entry" ("by_id");
CREATE INDEX "competitions_entry_model_id_93e3537e" ON "competitions_entry" ("model_id");
CREATE INDEX "competitions_entry_submission_id_d285b793" ON "competitions_entry" ("submission_id");
CREATE INDEX "competitions_entry_track_id_3f4c01d9" ON "competitions_entry" ("track_id");
CREATE INDEX "competitions_award_track_id_4204de86" ON "competitions_award" ("track_id");
CREATE UNIQUE INDEX "competitions_award_entries_award_id_entry_id_09a55e8d_uniq" ON "competitions_award_entries" ("award_id", "entry_id");
CREATE INDEX "competitions_award_entries_award_id_233ac243" ON "competitions_award_entries" ("award_id");
CREATE INDEX "competitions_award_entries_entry_id_1af8f0d7" ON "competitions_award_entries" ("entry_id");
CREATE INDEX "django_task_queue_n_99c321_idx" ON "django_tasks_database_dbtaskresult" ("queue_name");
CREATE INDEX "django_task_backend_071754_idx" ON "django_tasks_database_dbtaskresult" ("backend_name");
CREATE INDEX "tasks_db_new_ordering_idx" ON "django_tasks_database_dbtaskresult" ("status", "priority" DESC, "run_after" ASC, "enqueued_at" ASC) WHERE "status" = 'READY';
CREATE INDEX "mfa_authenticator_user_id_0c3a50c0" ON "mfa_authenticator" ("user_id");
CREATE UNIQUE INDEX "unique_authenticator_type" ON "mfa_authenticator" ("user_id", "type") WHERE "type" IN ('totp', 'recovery_codes');
CREATE INDEX "pages_page_by_id_a6661e26" ON "pages_page" ("by_id");
CREATE INDEX "pages_news_by_id_fd2f8073" ON "pages_news" ("by_id");
CREATE INDEX "pages_news_draft_9a6602_idx" ON "pages_news" ("draft", "published" DESC);
CREATE UNIQUE INDEX "one_open_job_a_pair" ON "scoring_job" ("model_id", "benchmark_id") WHERE "state" IN ('waiting', 'running');
CREATE INDEX "scoring_job_asked_by_id_073523e5" ON "scoring_job" ("asked_by_id");
CREATE INDEX "scoring_job_benchmark_id_e2f70086" ON "scoring_job" ("benchmark_id");
CREATE INDEX "scoring_job_model_id_e87a336b" ON "scoring_job" ("model_id");
CREATE INDEX "scoring_job_state_c6f899_idx" ON "scoring_job" ("state", "due");
CREATE INDEX "scoring_job_state_db3ff0_idx" ON "scoring_job" ("state", "claimed");
CREATE INDEX "scoring_job_model_i_8c9e0d_idx" ON "scoring_job" ("model_id", "state");
CREATE INDEX "scoring_job_benchma_3acf67_idx" ON "scoring_job" ("benchmark_id", "state");
CREATE UNIQUE INDEX "scoring_job_submissions_job_id_submission_id_eca5c673_uniq" ON "scoring_job_submissions" ("job_id", "submission_id");
CREATE INDEX "scoring_job_submissions_job_id_a57ee70c" ON "scoring_job_submissions" ("job_id");
CREATE INDEX "scoring_job_submissions_submission_id_d5386eee" ON "scoring_job_submissions" ("submission_id");
CREATE INDEX "django_session_expire_date_a5c62663" ON "django_session" ("expire_date");
CREATE INDEX "uploads_upl_owner_i_d7dba6_idx" ON "uploads_upload" ("owner_id", "state");
CREATE INDEX "uploads_upl_state_e192c6_idx" ON "uploads_upload" ("state", "claimed");
CREATE INDEX "uploads_upload_owner_id_dc17a23e" ON "uploads_upload" ("owner_id");
CREATE INDEX "uploads_uploadedfile_upload_id_539d3e87" ON "uploads_uploadedfile" ("upload_id");
CREATE UNIQUE INDEX "one_file_a_version" ON "uploads_uploadedfile" ("bucket", "key", "version_id") WHERE NOT ("version_id" = '');
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('django_migrations',60);
INSERT INTO "sqlite_sequence" VALUES('django_content_type',42);
INSERT INTO "sqlite_sequence" VALUES('auth_permission',171);
INSERT INTO "sqlite_sequence" VALUES('auth_group',1);
INSERT INTO "sqlite_sequence" VALUES('account_emailaddress',0);
INSERT INTO "sqlite_sequence" VALUES('django_admin_log',0);
INSERT INTO "sqlite_sequence" VALUES('submissions_revision',2);
INSERT INTO "sqlite_sequence" VALUES('mfa_authenticator',0);
INSERT INTO "sqlite_sequence" VALUES('uploads_uploadedfile',2);
INSERT INTO "sqlite_sequence" VALUES('auth_group_permissions',1);
INSERT INTO "sqlite_sequence" VALUES('competitions_competition',4);
INSERT INTO "sqlite_sequence" VALUES('competitions_track',7);
INSERT INTO "sqlite_sequence" VALUES('competitions_award',9);
INSERT INTO "sqlite_sequence" VALUES('competitions_entry',17);
INSERT INTO "sqlite_sequence" VALUES('competitions_award_entries',17);
INSERT INTO "sqlite_sequence" VALUES('competitions_milestone',5);
INSERT INTO "sqlite_sequence" VALUES('competitions_person',4);
INSERT INTO "sqlite_sequence" VALUES('competitions_programmeitem',11);
INSERT INTO "sqlite_sequence" VALUES('competitions_question',6);
INSERT INTO "sqlite_sequence" VALUES('accounts_user',2);
INSERT INTO "sqlite_sequence" VALUES('accounts_apitoken',2);
INSERT INTO "sqlite_sequence" VALUES('leaderboard_visionmodel',2);
INSERT INTO "sqlite_sequence" VALUES('leaderboard_benchmark',2);
INSERT INTO "sqlite_sequence" VALUES('leaderboard_benchmarkversion',2);
INSERT INTO "sqlite_sequence" VALUES('leaderboard_score',2);
INSERT INTO "sqlite_sequence" VALUES('leaderboard_layerprofile',2);
INSERT INTO "sqlite_sequence" VALUES('leaderboard_stimulussample',2);
INSERT INTO "sqlite_sequence" VALUES('leaderboard_ingestion',2);
INSERT INTO "sqlite_sequence" VALUES('competitions_snapshot',2);
INSERT INTO "sqlite_sequence" VALUES('pages_page',2);
INSERT INTO "sqlite_sequence" VALUES('pages_news',2);
INSERT INTO "sqlite_sequence" VALUES('submissions_step',2);
INSERT INTO "sqlite_sequence" VALUES('submissions_comment',2);
INSERT INTO "sqlite_sequence" VALUES('submissions_review',2);
INSERT INTO "sqlite_sequence" VALUES('submissions_plugin',2);
INSERT INTO "sqlite_sequence" VALUES('submissions_letter',2);
INSERT INTO "sqlite_sequence" VALUES('scoring_job',2);
INSERT INTO "sqlite_sequence" VALUES('scoring_job_submissions',2);
INSERT INTO "sqlite_sequence" VALUES('operations_beat',2);
COMMIT;
