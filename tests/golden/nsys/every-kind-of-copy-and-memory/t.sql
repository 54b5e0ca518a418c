CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, copyKind, srcKind, dstKind);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (0, 1, 0, 0, 0), (1, 2, 1, 0, 2),
  (2, 3, 2, 2, 1), (3, 4, 3, 1, 3), (4, 5, 4, 3, 0), (5, 6, 5, 3, 3), (6, 7, 6, 3, 2), (7, 8, 7, 2, 3), (8, 9, 8, 2, 2),
  (9, 10, 9, 0, 1), (10, 11, 10, NULL, NULL), (11, 12, 11, NULL, NULL), (12, 13, 12, 2, 4), (13, 14, 13, 4, 4),
  (14, 15, 14, 0, 0), (15, 16, 1, 3, 2), (16, 17, 1, 4, 2), (17, 18, 1, 5, 2),
  (18, 19, 1, 6, 2), (19, 20, 1, 7, 2), (20, 21, -1, -1, NULL);
